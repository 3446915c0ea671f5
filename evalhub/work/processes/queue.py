"""The queue: each task lets one more worker process work for a while.

A task is named for the batches that were waiting when it was queued. Its result tells which items
were done.
"""

from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from evalhub.work import leases

TASK = "evalhub.work.processes.tasks.work"
MAX_TASKS = 8
"""Tasks that may wait at once: more would only find that others already work."""

MAX_NAMED = 4
"""Batches in the name of a task."""


def request_worker() -> None:
    """Ask for a worker process once the current transaction is committed."""
    transaction.on_commit(enqueue_task)


def enqueue_task() -> bool:
    """Queue a task; return False if enough of them are waiting."""
    if waiting_tasks().count() >= MAX_TASKS:
        return False
    batches = list(islice(leases.waiting_batches(), MAX_NAMED + 1))
    names = [batch.work_name for batch in batches[:MAX_NAMED]]
    more = ["more"] if batches[MAX_NAMED:] else []
    kinds = dict.fromkeys(str(batch._meta.verbose_name) for batch in batches)
    async_task(
        TASK,
        task_name=", ".join(names + more)[:100] or "check for work",
        group=", ".join(kinds)[:100],
    )
    return True


def is_own(task: dict[str, Any]) -> bool:
    """Tell whether a task calls nothing but `TASK`; others name any function of any library."""
    return task.get("func") == TASK and not task.get("hook")


def is_task_waiting() -> bool:
    return bool(waiting_tasks().exists())


def waiting_tasks() -> Any:
    """Return the tasks that no process has taken. The task of a killed process stays locked."""
    return OrmQ.objects.filter(lock__lte=timezone.now())
