"""Several programs run in the foreground as one: each is restarted if it dies, all end together.

Each program has its own session, so that Ctrl-C reaches only the supervisor, and dies with it.
Everything happens in the main thread, because the kernel ties children to the thread that started
them.
"""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import IO

from evalhub.work.processes.parent_watch import Restarts, die_with

STOP_WITHIN_S = 8.0
LOOK_S = 0.25
MAX_FAILED_STARTS = 3


class CannotStart(Exception):
    """A program keeps dying before it is ready; its own output says why."""


@dataclass(frozen=True)
class Program:
    """A program to keep running.

    `command` holds arguments for this Python. `is_ready` is called until it returns True; None:
    ready once started.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] | None = None


class Child:
    """The current process of a program; its successors take its place."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.restarts = Restarts()
        self.is_ready = program.is_ready is None
        self.failed_starts = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._unfinished = b""

    def start(self) -> IO[bytes]:
        self.restarts.started()
        self.process = subprocess.Popen(
            [sys.executable, *self.program.command],
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self.program.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=partial(die_with, os.getpid()),
        )
        assert self.process.stdout is not None
        return self.process.stdout

    def ended(self) -> int | None:
        """Return the exit status of a dead process; None while it lives, or if there is none."""
        return None if self.process is None else self.process.poll()

    def close(self) -> None:
        """Note the death, and kill the processes that it had started."""
        self.signal(signal.SIGKILL)
        self.restarts.died()
        # Another program may answer in its place, so that it seemed ready.
        self.failed_starts += self.program.is_ready is not None
        self.process = None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process; SIGKILL also goes to all that it has started."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                os.kill(self.process.pid, number)

    def read(self) -> list[str] | None:
        """Return newly written lines; None at the end of its output."""
        assert self.process is not None
        assert self.process.stdout is not None
        content = os.read(self.process.stdout.fileno(), 65536)
        *lines, self._unfinished = (self._unfinished + content).split(b"\n")
        return [line.decode(errors="replace") for line in lines] if content else None


class Supervisor:
    """Keeps programs running until SIGTERM or SIGINT; `say` prints a line."""

    def __init__(self, programs: Sequence[Program], say: Callable[[str], object]) -> None:
        self.children = [Child(program) for program in programs]
        self.say = say
        self.stopping = self.is_announced = False
        self._width = max(len(program.name) for program in programs)
        self._selector = selectors.DefaultSelector()
        self._wakeup_read, self._wakeup_write = os.pipe()
        self._selector.register(self._wakeup_read, selectors.EVENT_READ)

    def run(self, when_ready: Callable[[], None]) -> None:
        """Run all, call `when_ready` once all are; raise CannotStart if one never is."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        try:
            while not self.stopping:
                self._tend()
                if not self.is_announced and all(child.is_ready for child in self.children):
                    self.is_announced = True
                    when_ready()
                self._listen(LOOK_S)
        finally:
            self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        os.write(self._wakeup_write, b".")

    def _tend(self) -> None:
        for child in self.children:
            if (status := child.ended()) is not None:
                self._listen(0)
                self._close_output(child)
                child.close()
                ended = f"{child.program.name} exited with status {status}"
                if child.failed_starts >= MAX_FAILED_STARTS and not self.is_announced:
                    raise CannotStart(f"{ended} before it was ready.")
                self.say(f"{ended}. Restarting it.")
            if child.process is None and child.restarts.is_due:
                self._selector.register(child.start(), selectors.EVENT_READ, child)
            elif not child.is_ready and child.program.is_ready and child.process is not None:
                child.is_ready = child.program.is_ready()

    def _listen(self, seconds: float) -> None:
        """Print the children's output until something happens or the time is over."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                os.read(self._wakeup_read, 1000)
                continue
            lines = key.data.read()
            for line in lines or ():
                self.say(f"{key.data.program.name:{self._width}} | {line}")
            if lines is None:
                self._close_output(key.data)

    def _close_output(self, child: Child) -> None:
        if child.process is None or child.process.stdout is None:
            return
        with suppress(KeyError, ValueError):
            self._selector.unregister(child.process.stdout)
        child.process.stdout.close()

    def _end(self) -> None:
        """Send SIGTERM to all, and SIGKILL after 8 s to those left and all that they started."""
        deadline = time.monotonic() + STOP_WITHIN_S
        for child in self.children:
            child.signal(signal.SIGTERM)
        while any(child.process and child.ended() is None for child in self.children):
            if time.monotonic() >= deadline:
                break
            self._listen(LOOK_S)
        for child in self.children:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()
