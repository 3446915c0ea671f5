"""A worker process: takes tasks from the queue itself, one at a time.

django-q2's cluster passes tasks between its processes through queues in shared memory. A process
killed while it holds such a queue's lock would stop all others for good. So each process reads the
broker's table, and gives django-q2's worker one task at a time, as that does itself in sync mode.
"""

import logging
import signal
import time
from collections.abc import Callable
from multiprocessing import Value, current_process
from queue import SimpleQueue
from types import FrameType
from typing import Any, NamedTuple

from django.db import connections
from django.utils import timezone
from django_q.brokers import Broker, get_broker
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signals import post_execute
from django_q.signing import BadSignature, SignedPackage
from django_q.worker import worker
from setproctitle import setproctitle

from evalhub.values.storable import UNSTORABLE
from evalhub.work import leases
from evalhub.work.models import FinishedTask
from evalhub.work.processes.queue import enqueue_task, is_own, is_task_waiting

log = logging.getLogger(__name__)

Task = dict[str, Any]
NoteTask = Callable[[int], None]
"""Notes the id of the task that this process works on, 0 for none, for its parent to read."""

DATABASE_DOWN_S = 5.0
RECORDED = 50
"""Finished tasks that are kept."""


class Stop:
    """Set by SIGTERM: no other task is taken. The current one has a handler of its own."""

    def __init__(self) -> None:
        self.requested = False

    def request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True

    def listen(self, *numbers: signal.Signals) -> None:
        for number in numbers:
            signal.signal(number, self.request)

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until the stop is requested."""
        end = time.monotonic() + seconds
        while not self.requested and time.monotonic() < end:
            time.sleep(0.2)


class Outcome(NamedTuple):
    """The end of a task. A process whose task timed out is in an unknown state."""

    succeeded: bool
    timed_out: bool


def work_on_tasks(note_task: NoteTask, stop: Stop) -> None:
    """Perform one task after another, until a stop is requested or the process is worn out."""
    setproctitle(f"qcluster {current_process().name} idle")
    broker, performed = get_broker(), 0
    while not stop.requested and performed < Conf.RECYCLE:
        try:
            task = next_task(broker, note_task)
        except Exception:
            log.exception("The queue cannot be read; trying again in %.0f s", DATABASE_DOWN_S)
            connections.close_all()
            stop.sleep(DATABASE_DOWN_S)
            continue
        if task is not None:
            performed += 1
            if perform(task, broker, note_task).timed_out:
                return


def drain(stop: Stop) -> bool:
    """Do all waiting work in this process. Return False if a task failed."""
    broker = get_broker()
    while not stop.requested:
        if not is_task_waiting():
            if not leases.is_work_waiting():
                break
            enqueue_task()
        task = next_task(broker, lambda _: None)
        if task is not None and not perform(task, broker, lambda _: None).succeeded:
            return False
    return True


def next_task(broker: Broker, note_task: NoteTask) -> Task | None:
    """Take a task if one waits; otherwise return None, after the broker's poll interval."""
    for ack_id, payload in broker.dequeue() or ():
        note_task(ack_id)
        try:
            task: Task = SignedPackage.loads(payload)
            if not is_own(task):
                raise TypeError(f"{task.get('func')!r} is no task of EvalHub")
        except (TypeError, BadSignature):
            log.exception("Task %s is not EvalHub's with this EVALHUB_SECRET_KEY: dropped", ack_id)
            broker.fail(ack_id)
            note_task(0)
        else:
            return task | {"ack_id": ack_id, "cluster": broker.list_key}
    return None


def perform(task: Task, broker: Broker, note_task: NoteTask) -> Outcome:
    """Let django-q2's worker perform a task, and record its outcome at once."""
    tasks, done = SimpleQueue[Task | str](), SimpleQueue[Task]()
    tasks.put(task)
    tasks.put("STOP")
    timer = Value("f", -1)
    worker(tasks, done, timer)
    task = done.get_nowait()
    ack_id, succeeded = task.pop("ack_id"), task["success"]
    try:
        _record(task)
        broker.acknowledge(ack_id)
    except Exception:
        log.exception("The outcome of task %s could not be saved", ack_id)
    note_task(0)
    if not succeeded:
        log.error("Task %s failed: %s", task["name"], task["result"])
    post_execute.send(sender="django_q", task=task)
    return Outcome(succeeded, timed_out=timer.value == 0)


def _record(task: Task) -> None:
    lines = str(task["result"] or "").strip().splitlines() or [""]
    row = FinishedTask.objects.create(
        name=task["name"],
        queued_at=task["started"],
        ended_at=task["stopped"],
        succeeded=task["success"],
        detail=UNSTORABLE.sub("", lines[0 if task["success"] else -1]),
    )
    FinishedTask.objects.filter(pk__lte=row.pk - RECORDED).delete()


def release_dead(ack_id: int) -> None:
    """Free at once what a dead process held: its items and its task (0: it had none)."""
    leases.free(leases.gone_workers())
    if ack_id:
        OrmQ.objects.filter(pk=ack_id).update(lock=timezone.now())
