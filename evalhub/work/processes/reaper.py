"""The reaper: frees the items of dead workers, and asks for workers while work waits.

One runs beside the workers of each cluster. Several of them, on several machines, do no harm: each
step is a conditional update, or safe to repeat.
"""

import logging
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string

from evalhub.work import leases
from evalhub.work.models import LEASE_S, Worker
from evalhub.work.processes.process_identity import identity
from evalhub.work.processes.queue import enqueue_task, is_task_waiting

log = logging.getLogger(__name__)

LOOK_S = 2.0
MINUTE_S = 60.0
FIRST_PAUSE_S = 3.0
LONGEST_PAUSE_S = 60.0
"""Pause between two tasks, while earlier ones have not set all workers to work."""


class Reaper:
    """Looks after the work every two seconds: each worker process's task and pid; 0: none."""

    def __init__(self, current_tasks: Sequence[int], pids: Sequence[int]) -> None:
        self.current_tasks, self.pids = current_tasks, pids
        self.observer = leases.Observer()
        self.taken_for_dead: dict[int, float] = {}
        self.pause_s = 0.0
        self.next_task_at = self.next_minute_at = 0.0

    def watch(self) -> NoReturn:
        while True:
            self.look(time.monotonic())
            time.sleep(LOOK_S)

    def look(self, now: float) -> None:
        """Run one round; `now` is in seconds of a monotonic clock."""
        attempt(close_old_connections)
        attempt(self.observer.reap)
        attempt(self.end_stuck, now)
        attempt(self.ask_for_worker, now)
        if now >= self.next_minute_at:
            self.next_minute_at = now + MINUTE_S
            every_minute()

    def end_stuck(self, now: float) -> None:
        """Kill a busy process of this cluster that was taken for dead a lease ago, yet lives.

        One that only slept beats again when it wakes.
        """
        if not self.observer.is_trusted:
            self.taken_for_dead.clear()
        busy = zip(self.pids, self.current_tasks, strict=True)
        mine = {identity(pid): pid for pid, task in busy if pid and task}
        newest = {
            row.process: row for row in Worker.objects.filter(process__in=mine).order_by("pk")
        }
        silent = {
            row.pk: mine[process]
            for process, row in newest.items()
            if row.stopped_at is not None and row.stopped_at > row.beat_at
        }
        self.taken_for_dead = {pk: self.taken_for_dead.get(pk, now) for pk in silent}
        for pk, since in self.taken_for_dead.items():
            if now > since + LEASE_S:
                log.error("Process %d is stuck: killed, and replaced", silent[pk])
                os.kill(silent[pk], signal.SIGKILL)

    def ask_for_worker(self, now: float) -> None:
        """Queue a task if work waits, no task does, and a process is idle."""
        if all(self.current_tasks) or not leases.is_work_waiting():
            self.pause_s = 0.0
        elif now >= self.next_task_at and not is_task_waiting():
            enqueue_task()
            self.pause_s = min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self.pause_s))
            self.next_task_at = now + self.pause_s


def every_minute() -> None:
    """Run the functions in EVALHUB_EVERY_MINUTE.

    django-q2's own schedules are not run: their rows name any function to call.
    """
    for path in settings.EVALHUB_EVERY_MINUTE:
        attempt(call, path)


def call(path: str) -> None:
    import_string(path)()


def attempt(step: Callable[..., Any], *args: Any) -> None:
    """Take a step; its failure must neither prevent the others nor end the reaper."""
    try:
        step(*args)
    except Exception:
        log.exception("The reaper failed at %s%r", getattr(step, "__name__", step), args)
