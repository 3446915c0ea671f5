"""A worker process takes tokens from the queue itself, one at a time, and works on each.

Django-q2's own processes hand tasks to each other through queues in shared memory; a process that
is killed while it holds such a queue's lock stops all others for good. So here each process reads
the broker's table itself: nothing is shared that a dead process could keep.
"""

import logging
import signal
import time
from collections.abc import MutableSequence
from multiprocessing import Value
from types import FrameType
from typing import Any

from django.db import connections
from django.utils import timezone
from django_q.brokers import Broker, get_broker
from django_q.models import OrmQ
from django_q.monitor import save_task
from django_q.signals import post_execute
from django_q.signing import BadSignature, SignedPackage
from django_q.worker import worker as perform

from evalhub.work import leases
from evalhub.work.queue import TASK, enqueue_task, is_task_waiting

log = logging.getLogger(__name__)

Task = dict[str, Any]
END = "STOP"
"""What django-q2's worker takes for the end of the queue."""

DATABASE_DOWN_S = 5.0


class CurrentTask:
    """The token that this process works on. The parent reads the number after a death."""

    def __init__(self, numbers: MutableSequence[int], place: int) -> None:
        self._numbers, self._place = numbers, place

    def set_id(self, ack_id: int) -> None:
        self._numbers[self._place] = ack_id

    def empty(self) -> None:
        self._numbers[self._place] = 0


class Stop:
    """Set by SIGTERM: no other token is taken. What works on one has a handler of its own."""

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


class TaskQueue:
    """Stands where django-q2's worker expects its queue of tasks."""

    def __init__(self, broker: Broker, current_task: CurrentTask, stop: Stop) -> None:
        self.broker, self.current_task, self.stop = broker, current_task, stop

    def get(self) -> Task | str:
        """The next task; `END` once a stop is requested."""
        while not self.stop.requested:
            try:
                task = self.next()
            except Exception:
                log.exception("The queue cannot be read; trying again in %.0f s", DATABASE_DOWN_S)
                connections.close_all()
                self.stop.sleep(DATABASE_DOWN_S)
                continue
            if task is not None:
                return task
        return END

    def next(self) -> Task | None:
        """A task if one waits; otherwise None, after the broker's pause between two looks."""
        for ack_id, payload in self.broker.dequeue() or ():
            self.current_task.set_id(ack_id)
            if (task := self._read(ack_id, payload)) is not None:
                return task
        return None

    def _read(self, ack_id: int, payload: str) -> Task | None:
        try:
            task: Task = SignedPackage.loads(payload)
        except (TypeError, BadSignature):
            log.exception("Token %s was not signed with this EVALHUB_SECRET_KEY: dropped", ack_id)
            self.broker.fail(ack_id)
            self.current_task.empty()
            return None
        return task | {"ack_id": ack_id, "cluster": self.broker.list_key}


class RemainingTasks(TaskQueue):
    """Ends when nothing is left to do, or when a task failed."""

    failed = False

    def get(self) -> Task | str:
        while not (self.stop.requested or self.failed):
            if not is_task_waiting():
                if not leases.is_work_waiting():
                    break
                enqueue_task(TASK)
            if (task := self.next()) is not None:
                return task
        return END


class ResultQueue:
    """Stands where django-q2's worker expects its queue of finished tasks: saves each at once."""

    def __init__(self, broker: Broker, current_task: CurrentTask, incoming: TaskQueue) -> None:
        self.broker, self.current_task, self.incoming = broker, current_task, incoming

    def put(self, task: Task) -> None:
        ack_id = task.pop("ack_id")
        try:
            save_task(task, self.broker)
            if task["success"] or task.get("ack_failure"):
                self.broker.acknowledge(ack_id)
        except Exception:
            log.exception("What became of token %s could not be saved", ack_id)
        self.current_task.empty()
        if not task["success"]:
            log.error("A token's work failed: %s", task["result"])
            if isinstance(self.incoming, RemainingTasks):
                self.incoming.failed = True
        post_execute.send(sender="django_q", task=task)


def work_on_tasks(
    current_task: CurrentTask, stop: Stop, source: type[TaskQueue] = TaskQueue
) -> TaskQueue:
    """Work on one token after another, until the source ends."""
    broker = get_broker()
    incoming = source(broker, current_task, stop)
    perform(incoming, ResultQueue(broker, current_task, incoming), Value("f", -1))
    return incoming


def replace(pid: int, ack_id: int) -> None:
    """Free at once what a process held that is known to be dead: its items and its token."""
    leases.reap(names=[leases.process_name(pid)])
    if ack_id:
        OrmQ.objects.filter(pk=ack_id).update(lock=timezone.now())


def drain(stop: Stop) -> bool:
    """Do in this process what is there to be done. Returns False where a token's work failed."""
    source = work_on_tasks(CurrentTask([0], 0), stop, RemainingTasks)
    return not (isinstance(source, RemainingTasks) and source.failed)
