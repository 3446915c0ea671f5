"""How fast a language model may be called: in flight and per minute, over all worker processes.

Live workers divide a model's limits among those that use it. A 429 halves the shared pace, at
most once in ten seconds, and the pace grows back by itself.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db.models import Q

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import LanguageModel, Pace
from evalhub.work import clock
from evalhub.work.models import LEASE_S, Worker

CUT_EVERY_S = 10.0
LEAST_SHARE = 0.02
GROWTH_PER_S = 0.01
"""Share of the full pace that comes back each second after a cut."""


@dataclass
class Lane:
    """One language model's calls in this process."""

    endpoint: Endpoint
    share: float = 1.0
    workers: int = 1
    silent_until: float = 0.0
    in_flight: int = 0
    sent: deque[float] = field(default_factory=deque)
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @property
    def width(self) -> int:
        """Calls that may be in flight in this process now."""
        return max(1, int(self.endpoint.max_concurrency * self.share / self.workers))

    def wait_s(self, now: float) -> float:
        """Seconds until the next call may start, as far as the rate goes; 0 if it may now."""
        wait = max(0.0, self.silent_until - now)
        per_minute = self.endpoint.requests_per_minute
        if per_minute is None:
            return wait
        allowed = max(1, int(per_minute * self.share / self.workers))
        while self.sent and self.sent[0] <= now - 60:
            self.sent.popleft()
        if len(self.sent) < allowed:
            return wait
        return max(wait, self.sent[-allowed] + 60 - now)

    def wake(self) -> None:
        """Let those go on for whom there is room."""
        room = self.width - self.in_flight
        while room > 0 and self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(None)
                self.in_flight += 1
                room -= 1

    async def enter(self) -> None:
        if self.in_flight < self.width and not self.waiting:
            self.in_flight += 1
        else:
            await self._queue()
        try:
            while (wait := self.wait_s(time.monotonic())) > 0:
                await asyncio.sleep(min(wait, 5.0))
        except asyncio.CancelledError:
            self.leave()
            raise
        self.sent.append(time.monotonic())

    async def _queue(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        self.in_flight -= 1
        self.wake()


class Lanes:
    """The lanes of this process, by language model."""

    def __init__(self) -> None:
        self._lanes: dict[int, Lane] = {}

    def lane(self, endpoint: Endpoint) -> Lane:
        return self._lanes.setdefault(endpoint.language_model_id, Lane(endpoint))

    @asynccontextmanager
    async def slot(self, endpoint: Endpoint) -> AsyncIterator[None]:
        """Room for one call, kept while the block runs."""
        lane = self.lane(endpoint)
        await lane.enter()
        try:
            yield
        finally:
            lane.leave()

    def in_use(self) -> list[int]:
        return [key for key, lane in self._lanes.items() if lane.in_flight or lane.waiting]

    def follow(self, shared: dict[int, "Shared"]) -> None:
        """Take over what the database says of each model's limits, pace and other users."""
        for key, lane in self._lanes.items():
            if key in shared:
                lane.endpoint = shared[key].limits(lane.endpoint)
                lane.share, lane.workers = shared[key].share, shared[key].workers
                lane.silent_until = time.monotonic() + shared[key].silent_s
                lane.wake()

    def keys(self) -> list[int]:
        return list(self._lanes)


@dataclass(frozen=True)
class Shared:
    """What all workers share about one language model."""

    max_concurrency: int
    requests_per_minute: int | None
    share: float
    silent_s: float
    workers: int

    def limits(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with the limits that hold now: they are not frozen with a run."""
        return replace(
            endpoint,
            max_concurrency=self.max_concurrency,
            requests_per_minute=self.requests_per_minute,
        )


def read_shared(keys: list[int]) -> dict[int, Shared]:
    """Limits, pace and the number of workers in use, for these language models."""
    now = clock.now()
    alive = Worker.objects.filter(stopped_at=None, beat_at__gt=now - timedelta(seconds=LEASE_S))
    users = [set(used) for used in alive.values_list("models_in_use", flat=True)]
    found = {}
    for model in LanguageModel.objects.filter(pk__in=keys).select_related("pace"):
        pace = getattr(model, "pace", None)
        found[model.pk] = Shared(
            max_concurrency=model.max_concurrency,
            requests_per_minute=model.requests_per_minute,
            share=share_now(pace, now) if pace else 1.0,
            silent_s=_seconds_until(pace.not_before, now) if pace else 0.0,
            workers=max(1, sum(model.pk in used for used in users)),
        )
    return found


def share_now(pace: Pace, now: datetime) -> float:
    """The pace after it has grown back since the last cut, in (0, 1]."""
    since = (now - pace.cut_at).total_seconds() if pace.cut_at else float("inf")
    return min(1.0, pace.share + GROWTH_PER_S * max(0.0, since))


def _seconds_until(moment: datetime | None, now: datetime) -> float:
    return max(0.0, (moment - now).total_seconds()) if moment else 0.0


def cut(language_model_id: int, retry_after_s: float | None) -> None:
    """Halve the shared pace of a model that said 429, at most once in ten seconds."""
    now = clock.now()
    pace, _ = Pace.objects.get_or_create(language_model_id=language_model_id)
    due = Q(cut_at__isnull=True) | Q(cut_at__lte=now - timedelta(seconds=CUT_EVERY_S))
    Pace.objects.filter(due, pk=pace.pk).update(
        share=max(LEAST_SHARE, share_now(pace, now) / 2), cut_at=now
    )
    if retry_after_s:
        until = now + timedelta(seconds=retry_after_s)
        earlier = Q(not_before__isnull=True) | Q(not_before__lt=until)
        Pace.objects.filter(earlier, pk=pace.pk).update(not_before=until)
