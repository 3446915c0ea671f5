"""Rate limits within one process: calls wait for their language model's rate limiter.

A worker that starts to use a model announces it, and calls only after every other user has sent a
heartbeat since, so that limits hold from the first second.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from evalhub.llm.endpoint import Endpoint
from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits.budget import Gate
from evalhub.work.limits.shared_rate import MINUTE_S, Shared, Use

IDLE_S = 5.0
"""A model that was not needed for this long is left to the other workers."""

OUTAGE_ITEMS = 3
"""Items that have to fail, or wait behind one, for a provider to count as down."""

REST_S = 0.02
"""While a worker rests, it looks this often whether its models need it."""

LOOK_S = 1.0
"""While a call waits for the rate, its batch's gate is checked this often."""


@dataclass
class RateLimiter:
    """Limits the calls to one language model; none start before the other workers know."""

    width: int = 0
    per_minute: int | None = None
    share: float = 1.0
    paused_until: float = 0.0
    in_flight: int = 0
    sent: deque[float] = field(default_factory=deque)
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    is_wanted: bool = False
    since: str | None = None
    announced_at: datetime | None = None
    is_joined: bool = False
    is_shared: bool = False
    is_even: bool = True
    needed_at: float = 0.0
    is_down: bool = False
    replied_at: float = 0.0
    items: Counter[int | None] = field(default_factory=Counter)
    failing: set[int | None] = field(default_factory=set)

    def wait_s(self, now: float) -> float:
        """Return the seconds until the rate allows the next call; 0 if it does now."""
        wait = max(0.0, self.paused_until - now)
        if self.per_minute is None:
            return wait
        self._forget(now)
        if len(self.sent) < self.per_minute:
            return wait
        if self.per_minute < 1:
            return max(wait, LOOK_S)
        return max(wait, self.sent[-self.per_minute] + MINUTE_S - now)

    def _forget(self, now: float) -> None:
        while self.sent and self.sent[0] <= now - MINUTE_S:
            self.sent.popleft()

    def use(self, now: float) -> Use:
        self._forget(now)
        return Use(self.since, self.in_flight, len(self.sent))

    @property
    def has_room(self) -> bool:
        return self.is_joined and self.in_flight < self.width

    def wake(self) -> None:
        """Let waiting calls start as far as there is room."""
        while self.waiting and self.has_room:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(None)
                self.in_flight += 1

    async def enter(self, gate: Gate) -> None:
        """Wait until a call may start; raise GivenBack if the gate closes or the model is left."""
        if self.has_room and not self.waiting:
            self.in_flight += 1
        else:
            await self._queue()
        try:
            while (wait := self.wait_s(time.monotonic())) > 0:
                gate.check()
                await asyncio.sleep(min(wait, LOOK_S))
        except BaseException:
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

    @contextmanager
    def concerning(self, item_id: int | None) -> Iterator[None]:
        """Count an item among those with a call that waits or is in flight."""
        self.items[item_id] += 1
        try:
            yield
        finally:
            self.items[item_id] -= 1
            if not self.items[item_id]:
                del self.items[item_id]

    def replied(self) -> bool:
        """Note that the provider replied; return True if it was taken for down."""
        self.replied_at = time.monotonic()
        self.failing.clear()
        was_down, self.is_down = self.is_down, False
        return was_down

    def failed(self, item_id: int | None, began_at: float, *, is_last_try: bool) -> bool:
        """Note a call that failed as in an outage; return True if the provider is down.

        It is if nothing was replied since `began_at`, and if this is not the last item or two:
        these may fail for a reason of their own.
        """
        self.failing.add(item_id)
        concerned = self.failing | self.items.keys()
        is_outage = self.replied_at < began_at and len(concerned) >= OUTAGE_ITEMS
        return self.is_down or (is_last_try and is_outage)

    def follow(self, shared: Shared) -> None:
        self.width, self.per_minute = shared.width, shared.per_minute
        self.share, self.is_down = shared.share, shared.is_down
        self.is_shared, self.is_even = shared.seen_at is not None, shared.is_even
        self.paused_until = time.monotonic() + shared.paused_s
        if self.announced_at is not None and not self.is_joined:
            self.is_joined = shared.seen_at is None or shared.seen_at > self.announced_at
        if self.is_joined and self.width == 0 and self.is_even:  # not only until others have less
            waiting, self.waiting = self.waiting, deque()
            for future in waiting:
                if not future.done():
                    future.set_exception(GivenBack())
        self.wake()

    def rest(self) -> None:
        """Leave the model to the other workers after a while without calls."""
        is_idle = not self.in_flight and not any(not future.done() for future in self.waiting)
        if is_idle and time.monotonic() > self.needed_at + IDLE_S:
            self.since = self.announced_at = None
            self.is_wanted = self.is_joined = False


class RateLimiters:
    def __init__(self) -> None:
        self._limiters: dict[int, RateLimiter] = {}

    def limiter(self, language_model_id: int) -> RateLimiter:
        return self._limiters.setdefault(language_model_id, RateLimiter())

    @asynccontextmanager
    async def slot(
        self, endpoint: Endpoint, gate: Gate, item_id: int | None = None
    ) -> AsyncIterator[None]:
        """Hold room for an item's call while the block runs; raise GivenBack as `enter` does."""
        limiter = self.limiter(endpoint.language_model_id)
        limiter.is_wanted = True
        with limiter.concerning(item_id):
            await limiter.enter(gate)
            try:
                yield
            finally:
                limiter.leave()

    def know(self, models: Collection[int]) -> bool:
        """Follow the limits of models that may be needed. Return True if one is new."""
        before = len(self._limiters)
        for model in models:
            self.limiter(model)
        return len(self._limiters) > before

    def need(self, models: Collection[int]) -> None:
        """Note that calls to these models are about to start."""
        for model in models:
            limiter = self.limiter(model)
            limiter.is_wanted, limiter.needed_at = True, time.monotonic()

    def unannounced(self) -> list[RateLimiter]:
        """Return the limiters in use that the other workers do not know of yet."""
        return [
            limiter
            for limiter in self._limiters.values()
            if limiter.is_wanted and not limiter.announced_at
        ]

    @property
    def are_shared(self) -> bool:
        """True if other workers use one of the models too, or may."""
        return any(
            limiter.is_wanted and (limiter.is_shared or not limiter.is_joined)
            for limiter in self._limiters.values()
        )

    def are_crowded(self, models: Collection[int]) -> bool:
        """Return True if nothing of a model is left here while others use more than their part."""
        limiters = [self.limiter(model) for model in models]
        return any(limiter.width == 0 and not limiter.is_even for limiter in limiters)

    @property
    def are_uneven(self) -> bool:
        """True while a worker has more calls in flight than its part, or waits to begin."""
        return any(
            limiter.is_wanted
            and not (limiter.is_joined and limiter.is_even and limiter.in_flight <= limiter.width)
            for limiter in self._limiters.values()
        )

    async def give_way(self, took_s: float, shortest_s: float, longest_s: float) -> None:
        """Wait before doing again what took so long, and as long again while calls wait their turn.

        The models are busy without it, so that a worker spends at most a third of its time on it.
        """
        until = time.monotonic() + min(2 * took_s, longest_s)
        await asyncio.sleep(min(max(took_s, shortest_s), longest_s))
        while any(limiter.waiting for limiter in self._limiters.values()):
            if (left_s := until - time.monotonic()) <= 0:
                return
            await asyncio.sleep(min(left_s, REST_S))

    def uses(self) -> dict[str, dict[str, Any]]:
        """Return this worker's use of each model for the heartbeat, as JSON; leave idle models."""
        now = time.monotonic()
        for limiter in self._limiters.values():
            limiter.rest()
        announced = {str(key): limiter.use(now) for key, limiter in self._limiters.items()}
        return {key: asdict(use) for key, use in announced.items() if use.since or use.sent}

    def left(self) -> dict[str, dict[str, Any]]:
        """Return the last minute's calls, which still count after this worker has ended."""
        now = time.monotonic()
        sent = {
            str(key): Use(sent=limiter.use(now).sent) for key, limiter in self._limiters.items()
        }
        return {key: asdict(use) for key, use in sent.items() if use.sent}

    def since(self) -> dict[int, str | None]:
        """Return when this worker began to use each model; None: not in use."""
        return {key: limiter.since for key, limiter in self._limiters.items()}

    def follow(self, shared: dict[int, Shared]) -> bool:
        """Take over this worker's part of each model. Return True if one became wider."""
        before = {key: self.limiter(key).width for key in shared}
        for key, of_model in shared.items():
            self.limiter(key).follow(of_model)
        return any(self.limiter(key).width > width for key, width in before.items())
