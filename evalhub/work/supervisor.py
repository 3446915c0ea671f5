"""Runs several programs in the foreground, as one: what dies is started again, all end together.

Each program has a session of its own, so that Ctrl-C reaches the supervisor only, and dies with
it. Everything happens in the main thread: the kernel ties the children to the thread that started
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

from evalhub.work.parent_watch import Restarts, die_with

STOP_WITHIN_S = 8.0
LOOK_S = 0.25
MOST_FAILED_STARTS = 3


class CannotStart(Exception):
    """A program dies again and again before it is ready; its own output says why."""


@dataclass(frozen=True)
class Program:
    """One program to be kept running.

    `command` is given to this Python. `is_ready` is asked again and again until it is true; None
    where being started is enough.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] | None = None


class Child:
    """The process that runs a program now, its successors included."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.restarts = Restarts()
        self.is_ready = program.is_ready is None
        self.failed_starts = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._unfinished = b""

    def start(self) -> None:
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

    def ended(self) -> int | None:
        """The exit status once the process has died; None as long as it lives, or is not there."""
        return None if self.process is None else self.process.poll()

    def close(self) -> None:
        """Note the death; what it had started itself is killed."""
        self.signal(signal.SIGKILL)
        self.restarts.died()
        self.failed_starts += not self.is_ready
        self.process = None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process; SIGKILL to all that it has started too."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                os.kill(self.process.pid, number)

    def read(self) -> list[str] | None:
        """Lines that it has written meanwhile; None once it will write no more."""
        assert self.process is not None
        assert self.process.stdout is not None
        content = os.read(self.process.stdout.fileno(), 65536)
        *lines, self._unfinished = (self._unfinished + content).split(b"\n")
        return [line.decode(errors="replace") for line in lines] if content else None


class Supervisor:
    """Keeps programs running until SIGTERM or SIGINT.

    Args:
        say: Where lines for people go.
    """

    def __init__(self, programs: Sequence[Program], say: Callable[[str], object]) -> None:
        self.children = [Child(program) for program in programs]
        self.say = say
        self.stopping = False
        self._width = max(len(program.name) for program in programs)
        self._selector = selectors.DefaultSelector()
        self._bell, self._bell_rope = os.pipe()
        self._selector.register(self._bell, selectors.EVENT_READ)

    def run(self, when_ready: Callable[[], None]) -> None:
        """Start all, call `when_ready` once all are, and keep them running.

        Raises:
            CannotStart: A program does not become ready. All have been ended.
        """
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        told = False
        try:
            while not self.stopping:
                self._tend()
                if not told and all(child.is_ready for child in self.children):
                    told = True
                    when_ready()
                self._listen(LOOK_S)
        finally:
            self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        os.write(self._bell_rope, b".")

    def _tend(self) -> None:
        for child in self.children:
            if (status := child.ended()) is not None:
                self._lose(child, status)
            if child.process is None and child.restarts.is_due:
                self._start(child)
            elif not child.is_ready and child.program.is_ready and child.process is not None:
                child.is_ready = child.program.is_ready()

    def _start(self, child: Child) -> None:
        child.start()
        assert child.process is not None
        assert child.process.stdout is not None
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _lose(self, child: Child, status: int) -> None:
        self._listen(0)
        self._close_output(child)
        child.close()
        if child.failed_starts >= MOST_FAILED_STARTS:
            raise CannotStart(f"{child.program.name} ended with status {status} before it was up.")
        self.say(f"{child.program.name} ended with status {status}; starting it again.")

    def _listen(self, seconds: float) -> None:
        """Pass on what the children write, until something happens or the time is over."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                os.read(self._bell, 1000)
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
        """SIGTERM to all; SIGKILL to what is left after 8 s, and to what they have started."""
        deadline = time.monotonic() + STOP_WITHIN_S
        for child in self.children:
            child.signal(signal.SIGTERM)
        while self._is_any_left() and time.monotonic() < deadline:
            self._listen(LOOK_S)
        for child in self.children:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()

    def _is_any_left(self) -> bool:
        return any(child.process and child.ended() is None for child in self.children)
