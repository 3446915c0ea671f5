"""Keeps work going without anybody's doing: frees the items of the dead, asks for workers.

One guard runs beside the workers of each cluster. Several of them, on several machines, do no harm:
each step is one conditional update, or may be done twice.
"""

import logging
import os
import signal
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.scheduler import scheduler

from evalhub.work import clock, leases
from evalhub.work.models import LEASE_S, Worker
from evalhub.work.queue import TASK, enqueue_task, is_task_waiting

log = logging.getLogger(__name__)

LOOK_S = 2.0
MINUTE_S = 60.0
FIRST_PAUSE_S = 3.0
LONGEST_PAUSE_S = 60.0
"""Between two tokens, when those before them did not set all workers to work."""


class StaleWorker(NamedTuple):
    """A worker process that was not heard of since `beat_at`, noticed at `since`."""

    pid: int
    beat_at: datetime
    since: float


class Reaper:
    """Looks after the work every two seconds.

    Args:
        hands: The token that each worker process of this cluster works on; 0 is idle.
        pids: The process id of each; 0 is none.
    """

    def __init__(self, current_tasks: Sequence[int], pids: Sequence[int]) -> None:
        self.current_tasks, self.pids = current_tasks, pids
        self.silences: dict[int, StaleWorker] = {}
        self.pause_s = 0.0
        self.next_token_at = self.next_minute_at = 0.0

    def watch(self) -> NoReturn:
        while True:
            self.look(time.monotonic())
            time.sleep(LOOK_S)

    def look(self, now: float) -> None:
        """One round; `now` in seconds of a clock that only grows."""
        attempt(close_old_connections)
        attempt(self.end_stuck, now)
        attempt(leases.reap)
        attempt(self.ask_for_worker, now)
        if now >= self.next_minute_at:
            self.next_minute_at = now + MINUTE_S
            every_minute()

    def end_stuck(self, now: float) -> None:
        """Kill a process of ours that lives and stays silent: it would never give up its place.

        It is watched for the length of a lease first, for after a sleep of the machine, or of the
        database, all are silent for a moment.
        """
        mine = {leases.process_name(pid): pid for pid in self.pids if pid}
        standing = Worker.objects.filter(name__in=mine, stopped_at=None)
        for worker in standing.filter(beat_at__lte=clock.ago(LEASE_S)):
            silence = StaleWorker(mine[worker.name], worker.beat_at, now)
            self.silences.setdefault(worker.pk, silence)
        beats = dict(Worker.objects.filter(pk__in=self.silences).values_list("pk", "beat_at"))
        for key, silence in list(self.silences.items()):
            if beats.get(key) != silence.beat_at or silence.pid not in mine.values():
                del self.silences[key]
            elif now > silence.since + LEASE_S:
                del self.silences[key]
                log.error("Process %d is stuck: killed, and replaced", silence.pid)
                os.kill(silence.pid, signal.SIGKILL)

    def ask_for_worker(self, now: float) -> None:
        """Add one token if work waits, nobody has been asked to do it, and a process is idle."""
        if all(self.current_tasks) or not leases.is_work_waiting():
            self.pause_s = 0.0
        elif now >= self.next_token_at and not is_task_waiting():
            enqueue_task(TASK)
            self.pause_s = min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self.pause_s))
            self.next_token_at = now + self.pause_s


def every_minute() -> None:
    """Django-q2's schedules, and what the floors above ask for in EVALHUB_EVERY_MINUTE."""
    attempt(scheduler, get_broker())
    for path in settings.EVALHUB_EVERY_MINUTE:
        attempt(call, path)


def call(path: str) -> None:
    import_string(path)()


def attempt(step: Callable[..., Any], *args: Any) -> None:
    """One step must not keep the others from being taken, nor end the guard."""
    try:
        step(*args)
    except Exception:
        log.exception("The guard could not do %s%r", getattr(step, "__name__", step), args)
