"""One process's work: an asyncio loop over all live batches, claiming fairly between them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

from django.db import InterfaceError, OperationalError

from evalhub.access.exposures import Sendings
from evalhub.work import batches, clock, leases, shared_rate
from evalhub.work.batches import Key, internal
from evalhub.work.budget import Budget, GivenBack
from evalhub.work.caller import BatchFailed, ModelCaller
from evalhub.work.kinds import kinds
from evalhub.work.live_batch import LiveBatch
from evalhub.work.models import Worker
from evalhub.work.rate_limiter import RateLimiters
from evalhub.work.saver import Database, LeaseLost, Saver

log = logging.getLogger(__name__)

TICK_S = 1.0
"""Pause and cancel are read so often."""

SETTLE_S = 5.0
"""After `stop`, calls in flight are given so long to end."""


class Loop:
    """Works until nothing is left, the time is over, or `stop` is called."""

    def __init__(self, *, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.database = Database()
        self.sendings = Sendings(self.database.surely)
        self.limiters = RateLimiters()
        self.random = Random()
        self.live_batch: dict[Key, LiveBatch] = {}
        self.wallets: dict[Any, Budget] = {}
        self.suspect: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()
        self.stopped = asyncio.Event()
        self.told_at = 0.0
        self.saver: Saver
        self.worker: Worker

    def stop(self) -> None:
        """Claim nothing more; what is in flight is given a moment, then given back."""
        self.database.is_patient = False
        self.stopped.set()
        self.changed.set()

    async def run(self) -> None:
        try:
            self.worker = await self.database(leases.register)
            try:
                await self._run()
            finally:
                await self._sign_off()
        finally:
            await self.database.close()

    async def _run(self) -> None:
        self.saver = Saver(self.database, self.worker)
        async with self._beside(self.saver.run()), self._beside(self._beat()):
            try:
                await self._work()
            except asyncio.CancelledError:
                self.stop()
                raise
            finally:
                await self._settle()

    @asynccontextmanager
    async def _beside(self, coroutine: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Run something beside the block; if it dies, the work stops and the block's end raises."""
        task = asyncio.create_task(coroutine)
        task.add_done_callback(self._died)
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _died(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            log.error("%s cannot go on", self.worker, exc_info=task.exception())
            self.stop()

    async def _sign_off(self) -> None:
        try:
            await self.database(leases.sign_off, self.worker, self.limiters.left())
        except Exception:
            log.exception("%s could not sign off: its leases end by themselves", self.worker)

    async def _work(self) -> None:
        while not self.stopped.is_set() and time.monotonic() < self.ends_at:
            self.changed.clear()
            try:
                if not await self._round():
                    return
            except Exception:
                log.exception("A round of %s failed; trying again", self.worker)
                await asyncio.sleep(TICK_S)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), TICK_S)

    async def _round(self) -> bool:
        """Look, and claim. Returns whether there is a reason to stay."""
        await self._look()
        claimed = await self._claim()
        return bool(claimed or self._tasks()) or await self.database.surely(
            batches.is_anything_left
        )

    def _tasks(self) -> set[asyncio.Task[None]]:
        return {task for live_batch in self.live_batch.values() for task in live_batch.tasks}

    # Other workers ---------------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(leases.BEAT_S)
            try:
                await self.database.refresh()
                await self._announce_use()
                await self.database(leases.reap)
            except Exception:
                log.exception("The heartbeat of %s failed; trying again", self.worker)

    async def _announce_use(self) -> None:
        """Read what the other workers tell, follow it, and only then tell them of this one."""
        self.told_at = time.monotonic()
        for live_batch in self.live_batch.values():
            if live_batch.tasks:
                self.limiters.need(live_batch.models)
        now = await self.database.surely(clock.now)
        await self._follow()
        await self.database.surely(leases.beat, self.worker, now, self.limiters.uses())

    async def _follow(self) -> None:
        since = self.limiters.since()
        self.limiters.follow(
            await self.database.surely(shared_rate.read_shared, since, self.worker.pk)
        )

    async def _announce(self) -> None:
        """Tell the others of models that are used here from now on; they are once all know."""
        if not (new := self.limiters.unannounced()):
            return
        now = await self.database.surely(clock.now)
        for limiter in new:
            limiter.since = now.isoformat(timespec="microseconds")
        await self._announce_use()
        announced_at = await self.database.surely(clock.now)
        for limiter in new:
            limiter.announced_at = announced_at
        await self._follow()

    # Batches ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Read which batches live, and close the gates of those that do not any more."""
        live = await self.database.surely(batches.read_live)
        for key, (batch, endpoints, spend) in live.items():
            live_batch = self.live_batch.setdefault(key, LiveBatch(key[0]))
            live_batch.follow(batch, endpoints)
            live_batch.gate.budget = self.wallets.setdefault(spend.key or key, Budget())
        purses = {spend.key or key: spend for key, (_, _, spend) in live.items()}
        for budget_key, spend in purses.items():
            self.wallets[budget_key].look(spend)
        for key, live_batch in list(self.live_batch.items()):
            if key in live:
                live_batch.gate.reconsider()
            else:
                await self._stop_batch(key, live_batch)
        await self._meet()

    async def _meet(self) -> None:
        """Learn the limits of models that are new here, and hear those who make room."""
        known = self.limiters.keys()
        if any(live_batch.models - known for live_batch in self.live_batch.values()):
            for live_batch in self.live_batch.values():
                self.limiters.know(live_batch.models)
            await self._follow()
        await self._announce()
        if self.limiters.are_joining and time.monotonic() > self.told_at + TICK_S:
            await self._announce_use()

    async def _stop_batch(self, key: Key, live_batch: LiveBatch) -> None:
        """Let no call begin; end those in flight where the batch was cancelled."""
        live_batch.stop_calls()
        if not live_batch.tasks:
            del self.live_batch[key]
        elif not live_batch.is_cancelled:
            live_batch.is_cancelled = await self.database.surely(
                batches.is_cancelled, *live_batch.key
            )
            if live_batch.is_cancelled:
                for task in live_batch.tasks:
                    task.cancel()

    # Items -----------------------------------------------------------------------------------

    async def _claim(self) -> int:
        """Claim for every batch what it has room for. Later kinds first: they end results."""
        claimed = 0
        for live_batch in sorted(
            self.live_batch.values(), key=lambda live_batch: -kinds().index(live_batch.kind)
        ):
            try:
                if live_batch.may_claim and (self.suspect is None or self.suspect.done()):
                    claimed += await self._claim_for(live_batch)
                await self._mark_if_over(live_batch)
            except (OperationalError, InterfaceError):
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", live_batch.batch)
                await self.database.surely(batches.fail_batch, *live_batch.key, internal(error))
        return claimed

    async def _claim_for(self, live_batch: LiveBatch) -> int:
        if (free_slots := live_batch.free_slots(self.limiters)) < 1:
            return 0
        alone = not self._tasks()
        claim = await self.database.surely(
            batches.claim, *live_batch.key, self.worker, free_slots, alone
        )
        if not claim.item_ids:
            return 0
        jobs = await self._prepared(live_batch, claim.item_ids)
        for job in jobs:
            task = live_batch.start(self._do(live_batch, job))
            task.add_done_callback(lambda _: self.changed.set())
            if claim.is_suspect:
                self.suspect = task
        self.limiters.need(live_batch.models)
        await self._announce()
        return len(jobs)

    async def _prepared(self, live_batch: LiveBatch, item_ids: list[int]) -> list[Any]:
        """The jobs; an item for which there can be none ends in an error, alone."""
        prepare = live_batch.kind.prepare
        try:
            return await self.database.surely(prepare, live_batch.batch, item_ids)
        except Exception:
            log.exception("Preparing %s failed: now one by one", live_batch.batch)
        jobs = []
        for item_id in item_ids:
            try:
                jobs += await self.database.surely(prepare, live_batch.batch, [item_id])
            except Exception as error:
                await self._fail(live_batch, item_id, error)
        return jobs

    async def _do(self, live_batch: LiveBatch, job: Any) -> None:
        caller = ModelCaller(
            kind=live_batch.kind,
            batch=live_batch.batch,
            item_id=job.item_id,
            gate=live_batch.gate,
            limiters=self.limiters,
            saver=self.saver,
            database=self.database,
            random=self.random,
            sendings=self.sendings,
            sealed=live_batch.kind.sealed_tests(job),
        )
        try:
            await live_batch.kind.perform(job, caller)
        except LeaseLost:
            log.warning("%s lost its lease on %s %s", self.worker, live_batch.kind, job.item_id)
        except BatchFailed as error:
            live_batch.gate.is_open = False
            await self._give_back(live_batch, job, 0.0)
            await self.database.surely(batches.fail_batch, *live_batch.key, str(error))
            live_batch.stop_calls()
        except GivenBack as error:
            await self._give_back(live_batch, job, error.after_s)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(live_batch, job, 0.0))
            raise
        except Exception as error:
            await self._fail(live_batch, job.item_id, error)

    async def _fail(self, live_batch: LiveBatch, item_id: int, error: Exception) -> None:
        log.error("Doing item %s of %s failed", item_id, live_batch.batch, exc_info=error)
        arguments = (live_batch.kind, item_id, self.worker, internal(error))
        await self.database.surely(batches.fail_item, *arguments)

    async def _give_back(self, live_batch: LiveBatch, job: Any, after_s: float) -> None:
        await self.saver.flush()
        arguments = (live_batch.kind, [job.item_id], self.worker, after_s)
        await self.database.surely(batches.give_back, *arguments)

    async def _mark_if_over(self, live_batch: LiveBatch) -> None:
        """Mark a batch as done, or as stopped by its cost limit, once nothing is in flight."""
        if live_batch.tasks or not live_batch.gate.is_open:
            return
        if live_batch.gate.refused_usd is None:
            await self.database.surely(batches.finish_if_done, *live_batch.key)
        elif not self._is_spending(live_batch.gate.budget):
            await self.saver.flush()
            spend = await self.database.surely(live_batch.kind.spend, live_batch.batch)
            live_batch.gate.budget.balance(spend)
            if not live_batch.gate.reconsider():
                await self.database.surely(batches.pause_spent, *live_batch.key)

    def _is_spending(self, budget: Budget) -> bool:
        """Whether another batch that shares the limit has something in flight."""
        return any(
            live_batch.tasks
            for live_batch in self.live_batch.values()
            if live_batch.gate.budget is budget
        )

    # The end ---------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Let calls in flight end; after `stop` only for a moment, then give their items back."""
        stopped = asyncio.create_task(self.stopped.wait())
        while (tasks := self._tasks()) and not stopped.done():
            await self._stop_all()
            some = asyncio.FIRST_COMPLETED
            await asyncio.wait({*tasks, stopped}, timeout=TICK_S, return_when=some)
        for live_batch in self.live_batch.values():
            live_batch.stop_calls()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=SETTLE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await self.saver.flush()

    async def _stop_all(self) -> None:
        try:
            for key, live_batch in list(self.live_batch.items()):
                await self._stop_batch(key, live_batch)
        except Exception:
            log.exception("%s could not see whether its work was cancelled", self.worker)
