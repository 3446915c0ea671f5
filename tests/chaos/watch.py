"""Looks at a run all the time, as a person does who reloads its page."""

import itertools
import threading
import time

from django.db import Error, connections

from evalhub.models import BatchState, Call, ItemState
from evalhub.work.leases import workers_alive
from runs.models import Result, ResultScore
from tests.chaos.site import Site

LOOK_S = 0.25
PATIENCE_S = 60.0
"""A run without progress for this long after its fault counts as stalled for good."""


class Watch:
    """Notes when progress was seen, and which states were shown, from a thread of its own."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.progress_at: list[float] = []
        self.states: list[str] = []
        self.is_over = False
        self._progress = (0, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)

    def wait(self) -> None:
        """Wait until the run is over, or has stalled for good."""
        while not self.is_over and self.silence_s() < PATIENCE_S:
            time.sleep(LOOK_S)

    def silence_s(self) -> float:
        return time.monotonic() - max([self.site.ended_at, *self.progress_at[-1:]])

    def stall_s(self) -> float:
        """The longest time without progress since the fault was over."""
        after = [at for at in self.progress_at if at > self.site.ended_at]
        times = [self.site.ended_at, *after, *([] if self.is_over else [time.monotonic()])]
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)

    def _look(self) -> None:
        while not self._stop.is_set() and not self.is_over:
            try:
                self._note()
            except Error:
                connections.close_all()
            time.sleep(LOOK_S)
        connections.close_all()

    def _note(self) -> None:
        progress = (
            Call.objects.count(),
            Result.objects.exclude(state=ItemState.PENDING).count()
            + ResultScore.objects.exclude(state=ItemState.PENDING).count(),
        )
        if progress != self._progress:
            self._progress = progress
            self.progress_at.append(time.monotonic())
        is_over = self.site.is_over()
        if self.progress_at and self.states[-1:] != [state := self._state()]:
            self.states.append(state)
        self.is_over = is_over

    def _state(self) -> str:
        run, judge_run = self.site.states()
        if run == BatchState.DONE:
            run = judge_run
        if run == BatchState.LIVE:
            return "running" if workers_alive() else "no worker"
        return str(run)
