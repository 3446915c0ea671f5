import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
GROWN_UP_S = 10.0
"""Age from which a death counts as an accident, not as a failed start."""


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends.

    Call it in the new process. Outside Linux it only checks that the parent is still alive.

    Args:
        parent: The parent's process id. It must have started this process from its main thread,
            because the kernel watches that thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call
        os._exit(1)


class Restarts:
    """Pauses before restarts: none at first, then longer each time the process dies young."""

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
