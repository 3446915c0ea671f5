"""What ties a process to the one that started it, and how soon a dead one is replaced."""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
GROWN_UP_S = 10.0
"""A process that lived so long was in order; its death says nothing about the next one's."""


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends.

    Called in the new process. Elsewhere than on Linux it only checks that the parent still lives.

    Args:
        parent: Process id of the parent. It must have started this process from its main
            thread, as the kernel watches the thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)


class Restarts:
    """When a process that died is started again: at once at first, ever later if it dies young."""

    def __init__(self) -> None:
        self.young_deaths = 0
        self.not_before = self.started_at = 0.0

    def started(self) -> None:
        self.started_at = time.monotonic()

    def died(self) -> None:
        now = time.monotonic()
        self.young_deaths = 0 if now - self.started_at > GROWN_UP_S else self.young_deaths + 1
        pause_s = FIRST_PAUSE_S * 2 ** (self.young_deaths - 2) if self.young_deaths > 1 else 0.0
        self.not_before = now + min(LONGEST_PAUSE_S, pause_s)

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.not_before
