"""A worker's place among the others: its heartbeat, its leases, and its use of the models."""

import asyncio
import logging
import time
from collections import defaultdict
from functools import partial
from typing import NoReturn

from django.db import close_old_connections

from evalhub.values import clock
from evalhub.work import database, leases
from evalhub.work.batches import Key, LiveBatch
from evalhub.work.calls import sent_calls
from evalhub.work.database import Database
from evalhub.work.kinds import AnyKind
from evalhub.work.limits import shared_rate
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.models import LEASE_S, Worker
from evalhub.work.saver import Saver

log = logging.getLogger(__name__)

SHARE_S = 0.4
"""Interval at which workers follow each other's use of a model, and tell their own."""

UNEVEN_S = 0.1
"""The same while one of them has more calls in flight than its part, or waits to begin."""

TOGETHER_S = 2.0
"""The same for so long after a worker's start: those of a site start together."""

CHECK_S = 1.0
REMIND_S = 60.0
"""Interval at which the log repeats why a worker takes no work."""


class Heartbeat:
    """Tells the other workers that this one lives and what it calls, and learns of them.

    `changed` is set when there is room for more calls. `claiming` is held while items may be leased
    that no task is doing yet. `problem`: why nothing may be claimed; "": it may.
    """

    def __init__(
        self,
        database: Database,
        worker: Worker,
        limiters: RateLimiters,
        live_batches: dict[Key, LiveBatch],
        saver: Saver,
        changed: asyncio.Event,
    ) -> None:
        self.changed = changed
        self.database, self.worker, self.limiters = database, worker, limiters
        self.live_batches, self.saver = live_batches, saver
        self.observer = leases.Observer()
        self.claiming = asyncio.Lock()
        self.problem = ""
        self._checked_at = self._reminded_at = -REMIND_S
        self._held_until = clock.since_boot() + LEASE_S

    def may_hold(self) -> bool:
        """Return False if the worker was silent for a lease: others may do its items now."""
        return clock.since_boot() < self._held_until

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(leases.BEAT_S)
            try:
                await self.beat()
                await self.database(self.observer.reap)
                await self.database(sent_calls.take_in)
            except Exception:
                log.exception("The heartbeat of %s failed; trying again", self.worker)

    async def beat(self) -> None:
        await self.database(close_old_connections)
        began_at = clock.since_boot()
        await self.announce_use()
        if self.claiming.locked():
            await self._reconcile(is_claiming=True)
        else:
            async with self.claiming:
                await self._reconcile(is_claiming=False)
        self._held_until = began_at + LEASE_S

    async def _reconcile(self, *, is_claiming: bool) -> None:
        """Give back what nobody does here; let what is no longer held make no further call."""
        callers = {
            (batch.kind, caller.item_id): caller
            for batch in self.live_batches.values()
            for caller in batch.tasks.values()
            if caller.item_id is not None
        }
        doing: dict[AnyKind, set[int]] = defaultdict(set)
        for kind, item_id in self.saver.items | callers.keys():
            doing[kind].add(item_id)
        lost = await self.database(
            partial(leases.reconcile, self.worker, doing, is_claiming=is_claiming)
        )
        for (kind, item_id), caller in callers.items():
            caller.is_lost |= item_id in lost[kind]

    async def check_schema(self, *, at_once: bool = False) -> bool:
        """Return True if the tables are those of this code; otherwise log what to do.

        They are looked at once a second, or `at_once`.
        """
        if not at_once and time.monotonic() < self._checked_at + CHECK_S:
            return not self.problem
        self._checked_at = time.monotonic()
        self.problem = await self.database.with_retries(database.mismatch)
        if self.problem and time.monotonic() > self._reminded_at + REMIND_S:
            self._reminded_at = time.monotonic()
            log.error("%s takes no work. %s", self.worker, self.problem)
        return not self.problem

    # Language models -------------------------------------------------------------------------

    async def announce_use(self, *, if_shared: bool = False) -> None:
        """Follow the other workers' announcements, and only then send this worker's own.

        Args:
            if_shared: Send none while no other worker uses one of the models.
        """
        for live_batch in self.live_batches.values():
            if live_batch.tasks:
                self.limiters.need(live_batch.models)
        now = await self.database.with_retries(clock.now)
        await self.follow()
        if if_shared and not self.limiters.are_shared:
            return
        await self.database.with_retries(
            leases.beat, self.worker, now, self.limiters.uses(), self.problem
        )

    async def keep_up(self) -> NoReturn:
        """Follow the other workers in time to share a model's limits evenly."""
        started_at = time.monotonic()
        while True:
            is_new = time.monotonic() < started_at + TOGETHER_S
            await asyncio.sleep(UNEVEN_S if is_new or self.limiters.are_uneven else SHARE_S)
            try:
                await self.announce_use(if_shared=True)
            except Exception:
                log.exception("%s could not read the others' use; trying again", self.worker)

    async def follow(self) -> None:
        since = self.limiters.since()
        shared = await self.database.with_retries(shared_rate.read_shared, since, self.worker.pk)
        if self.limiters.follow(shared):
            self.changed.set()

    async def announce(self) -> None:
        """Announce the models in use here from now on; calls start once all workers know."""
        if not (new := self.limiters.unannounced()):
            return
        now = await self.database.with_retries(clock.now)
        for limiter in new:
            limiter.since = now.isoformat(timespec="microseconds")
        await self.announce_use()
        announced_at = await self.database.with_retries(clock.now)
        for limiter in new:
            limiter.announced_at = announced_at
        await self.follow()
