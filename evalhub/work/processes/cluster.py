"""The processes of `manage.py worker`: a parent, its workers and a reaper.

The parent imports the slow modules, forks the other processes and replaces each that dies. Once
started it uses neither the database nor the network, so that nothing but a signal can block it.
"""

import gc
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from multiprocessing.sharedctypes import RawArray
from types import FrameType

from django.db import DatabaseError, connections
from setproctitle import setproctitle

from evalhub.llm import gateway
from evalhub.models import LanguageModel
from evalhub.work import database
from evalhub.work.kinds import kinds
from evalhub.work.processes.parent_watch import Restarts, die_with
from evalhub.work.processes.queue_worker import Stop, release_dead, work_on_tasks
from evalhub.work.processes.reaper import Reaper

log = logging.getLogger(__name__)
fork = multiprocessing.get_context("fork")

STOP_WITHIN_S = 7.0
"""Workers that have not ended by then are killed: the command ends within 8 s."""

GARBAGE = 10_000
"""Objects made between two searches for cycles among them: rows and replies have few."""

TEND_S = 0.5
"""Interval at which the parent checks for processes to start."""

REMIND_S = 1.0
"""Interval at which SIGTERM is repeated: a new worker may not handle it yet."""


class ProcessSlot:
    """A place in the cluster, filled by one process after another.

    `dead_task`: the id of the task that the last one worked on; 0: none; None: it is the first.
    """

    def __init__(self, name: str, run: Callable[[int | None], None]) -> None:
        self.name, self.run = name, run
        self.process: ForkProcess | None = None
        self.dead_task: int | None = None
        self.restarts = Restarts()

    @property
    def pid(self) -> int:
        """The id of the process; 0: none."""
        return self.process.pid or 0 if self.process else 0

    def fill(self) -> None:
        """Start a process, unless there is one or it is too soon."""
        if self.process is not None or not self.restarts.is_due:
            return
        arguments = (os.getpid(), self.run, self.dead_task)
        self.process = fork.Process(target=enter, args=arguments, name=self.name, daemon=True)
        self.restarts.started()
        self.process.start()

    def leave(self, ack_id: int) -> None:
        """Note that the process died while it worked on this task."""
        assert self.process is not None
        assert self.process.pid is not None
        status = self.process.exitcode
        level = logging.WARNING if status else logging.INFO
        log.log(level, "%s (process %d) ended: %s", self.name, self.process.pid, status)
        self.dead_task = ack_id
        self.process = None
        self.restarts.died()


def enter(parent: int, run: Callable[[int | None], None], dead_task: int | None) -> None:
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the terminal's Ctrl-C
    run(dead_task)


class Cluster:
    def __init__(self, workers: int) -> None:
        self.current_tasks, self.pids = RawArray("q", workers), RawArray("i", workers)
        self.slots = [ProcessSlot(f"worker-{n}", partial(self._work, n)) for n in range(workers)]
        self.slots.append(ProcessSlot("reaper", self._reap))
        self.stopping = False
        self._wakeup_read, self._wakeup_write = os.pipe()

    # In the children --------------------------------------------------------------------------

    def _work(self, place: int, dead_task: int | None) -> None:
        stop = Stop()
        stop.listen(signal.SIGTERM)
        if dead_task is not None:
            try:
                release_dead(dead_task)
            except Exception:
                log.exception("What the last process held is freed when its lease ends")
        work_on_tasks(partial(self.current_tasks.__setitem__, place), stop)

    def _reap(self, _: int | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        setproctitle("qcluster reaper")
        Reaper(self.current_tasks, self.pids).watch()

    # In the parent ----------------------------------------------------------------------------

    def run(self) -> None:
        """Work until SIGTERM or SIGINT."""
        setproctitle("qcluster parent")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        prepare()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        log.info("Working with %d processes", len(self.current_tasks))
        while not self.stopping:
            self._tend()
            sentinels = [process.sentinel for process in self._living()]
            if self._wakeup_read in wait([*sentinels, self._wakeup_read], TEND_S):
                os.read(self._wakeup_read, 1000)
        self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        os.write(self._wakeup_write, b".")

    def _tend(self) -> None:
        for place, slot in enumerate(self.slots):
            if slot.process is not None and not slot.process.is_alive():
                ack_id = 0
                if place < len(self.current_tasks):  # else it is the reaper
                    ack_id, self.current_tasks[place] = int(self.current_tasks[place]), 0
                slot.leave(ack_id)
            slot.fill()
        self.pids[:] = [slot.pid for slot in self.slots[:-1]]

    def _living(self) -> list[ForkProcess]:
        return [slot.process for slot in self.slots if slot.process and slot.process.is_alive()]

    def _end(self) -> None:
        """Ask all processes to end, repeatedly, and kill those that have not in time."""
        asked_at, deadline = 0.0, time.monotonic() + STOP_WITHIN_S
        while (living := self._living()) and (now := time.monotonic()) < deadline:
            if now >= asked_at + REMIND_S:
                asked_at = now
                for process in living:
                    process.terminate()
            living[0].join(0.1)
        for process in living:
            log.warning("%s did not end in time: killed", process.name)
            process.kill()
            process.join()


def prepare() -> None:
    """Load everything that the children need, and close everything that they must not inherit."""
    database.end_idle_transactions()
    gateway.load(_models())
    kinds()
    database.known_migrations()
    connections.close_all()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


def _models() -> list[LanguageModel]:
    """Return the models that may be called; none if the database is away: it is waited for."""
    try:
        return list(LanguageModel.objects.active().not_applications())
    except DatabaseError:
        return []
