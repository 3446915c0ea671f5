"""The queue carries tokens only: each says that one more worker process may work."""

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

TASK = "evalhub.work.tasks.work"
MAX_TASKS = 8
"""Tokens that may wait at once: more would only find that others already work."""


def request_worker() -> None:
    """Ask for a worker process once the present transaction is saved."""
    transaction.on_commit(partial(enqueue_task, TASK))


def enqueue_task(task: str) -> bool:
    """Put a token into the queue; False where enough of them already wait."""
    if _waiting().count() >= MAX_TASKS:
        return False
    async_task(task, task_name="work")
    return True


def is_task_waiting() -> bool:
    return bool(_waiting().exists())


def _waiting() -> Any:
    """Tokens that no process works on. One whose process was killed stays locked for long."""
    return OrmQ.objects.filter(lock__lte=timezone.now())
