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
from evalhub.work import batches, clock, leases, pace
from evalhub.work.batches import Key, internal
from evalhub.work.desk import BatchFailed, Desk
from evalhub.work.gate import GivenBack, Wallet
from evalhub.work.held import Held
from evalhub.work.kinds import kinds
from evalhub.work.lanes import Lanes
from evalhub.work.models import Worker
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
        self.lanes = Lanes()
        self.random = Random()
        self.held: dict[Key, Held] = {}
        self.wallets: dict[Any, Wallet] = {}
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
            await self.database(leases.sign_off, self.worker, self.lanes.left())
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
        return {task for held in self.held.values() for task in held.tasks}

    # Other workers ---------------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(leases.BEAT_S)
            try:
                await self.database.refresh()
                await self._tell()
                await self.database(leases.reap)
            except Exception:
                log.exception("The heartbeat of %s failed; trying again", self.worker)

    async def _tell(self) -> None:
        """Read what the other workers tell, follow it, and only then tell them of this one."""
        self.told_at = time.monotonic()
        for held in self.held.values():
            if held.tasks:
                self.lanes.need(held.models)
        now = await self.database.surely(clock.now)
        await self._follow()
        await self.database.surely(leases.beat, self.worker, now, self.lanes.uses())

    async def _follow(self) -> None:
        since = self.lanes.since()
        self.lanes.follow(await self.database.surely(pace.read_shared, since, self.worker.pk))

    async def _announce(self) -> None:
        """Tell the others of models that are used here from now on; they are once all know."""
        if not (new := self.lanes.unannounced()):
            return
        now = await self.database.surely(clock.now)
        for lane in new:
            lane.since = now.isoformat(timespec="microseconds")
        await self._tell()
        announced_at = await self.database.surely(clock.now)
        for lane in new:
            lane.announced_at = announced_at
        await self._follow()

    # Batches ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Read which batches live, and close the gates of those that do not any more."""
        live = await self.database.surely(batches.read_live)
        for key, (batch, endpoints, purse) in live.items():
            held = self.held.setdefault(key, Held(key[0]))
            held.follow(batch, endpoints)
            held.gate.wallet = self.wallets.setdefault(purse.key or key, Wallet())
        purses = {purse.key or key: purse for key, (_, _, purse) in live.items()}
        for wallet_key, purse in purses.items():
            self.wallets[wallet_key].look(purse)
        for key, held in list(self.held.items()):
            if key in live:
                held.gate.reconsider()
            else:
                await self._let_stand(key, held)
        await self._meet()

    async def _meet(self) -> None:
        """Learn the limits of models that are new here, and hear those who make room."""
        known = self.lanes.keys()
        if any(held.models - known for held in self.held.values()):
            for held in self.held.values():
                self.lanes.know(held.models)
            await self._follow()
        await self._announce()
        if self.lanes.are_joining and time.monotonic() > self.told_at + TICK_S:
            await self._tell()

    async def _let_stand(self, key: Key, held: Held) -> None:
        """Let no call begin; end those in flight where the batch was cancelled."""
        held.stand()
        if not held.tasks:
            del self.held[key]
        elif not held.is_cancelled:
            held.is_cancelled = await self.database.surely(batches.is_cancelled, *held.key)
            if held.is_cancelled:
                for task in held.tasks:
                    task.cancel()

    # Items -----------------------------------------------------------------------------------

    async def _claim(self) -> int:
        """Claim for every batch what it has room for. Later kinds first: they end results."""
        claimed = 0
        for held in sorted(self.held.values(), key=lambda held: -kinds().index(held.kind)):
            try:
                if held.may_claim and (self.suspect is None or self.suspect.done()):
                    claimed += await self._claim_for(held)
                await self._mark_if_over(held)
            except (OperationalError, InterfaceError):
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", held.batch)
                await self.database.surely(batches.fail_batch, *held.key, internal(error))
        return claimed

    async def _claim_for(self, held: Held) -> int:
        if (room := held.room(self.lanes)) < 1:
            return 0
        alone = not self._tasks()
        claim = await self.database.surely(batches.claim, *held.key, self.worker, room, alone)
        if not claim.item_ids:
            return 0
        jobs = await self._prepared(held, claim.item_ids)
        for job in jobs:
            task = held.start(self._do(held, job))
            task.add_done_callback(lambda _: self.changed.set())
            if claim.is_suspect:
                self.suspect = task
        self.lanes.need(held.models)
        await self._announce()
        return len(jobs)

    async def _prepared(self, held: Held, item_ids: list[int]) -> list[Any]:
        """The jobs; an item for which there can be none ends in an error, alone."""
        prepare = held.kind.prepare
        try:
            return await self.database.surely(prepare, held.batch, item_ids)
        except Exception:
            log.exception("Preparing %s failed: now one by one", held.batch)
        jobs = []
        for item_id in item_ids:
            try:
                jobs += await self.database.surely(prepare, held.batch, [item_id])
            except Exception as error:
                await self._fail(held, item_id, error)
        return jobs

    async def _do(self, held: Held, job: Any) -> None:
        desk = Desk(
            kind=held.kind,
            batch=held.batch,
            item_id=job.item_id,
            gate=held.gate,
            lanes=self.lanes,
            saver=self.saver,
            database=self.database,
            random=self.random,
            sendings=self.sendings,
            sealed=held.kind.sealed_tests(job),
        )
        try:
            await held.kind.perform(job, desk)
        except LeaseLost:
            log.warning("%s lost its lease on %s %s", self.worker, held.kind, job.item_id)
        except BatchFailed as error:
            held.gate.is_open = False
            await self._give_back(held, job, 0.0)
            await self.database.surely(batches.fail_batch, *held.key, str(error))
            held.stand()
        except GivenBack as error:
            await self._give_back(held, job, error.after_s)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(held, job, 0.0))
            raise
        except Exception as error:
            await self._fail(held, job.item_id, error)

    async def _fail(self, held: Held, item_id: int, error: Exception) -> None:
        log.error("Doing item %s of %s failed", item_id, held.batch, exc_info=error)
        arguments = (held.kind, item_id, self.worker, internal(error))
        await self.database.surely(batches.fail_item, *arguments)

    async def _give_back(self, held: Held, job: Any, after_s: float) -> None:
        await self.saver.flush()
        arguments = (held.kind, [job.item_id], self.worker, after_s)
        await self.database.surely(batches.give_back, *arguments)

    async def _mark_if_over(self, held: Held) -> None:
        """Mark a batch as done, or as stopped by its cost limit, once nothing is in flight."""
        if held.tasks or not held.gate.is_open:
            return
        if held.gate.refused_usd is None:
            await self.database.surely(batches.finish_if_done, *held.key)
        elif not self._is_spending(held.gate.wallet):
            await self.saver.flush()
            purse = await self.database.surely(held.kind.purse, held.batch)
            held.gate.wallet.balance(purse)
            if not held.gate.reconsider():
                await self.database.surely(batches.pause_spent, *held.key)

    def _is_spending(self, wallet: Wallet) -> bool:
        """Whether another batch that shares the limit has something in flight."""
        return any(held.tasks for held in self.held.values() if held.gate.wallet is wallet)

    # The end ---------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Let calls in flight end; after `stop` only for a moment, then give their items back."""
        stopped = asyncio.create_task(self.stopped.wait())
        while (tasks := self._tasks()) and not stopped.done():
            await self._let_all_stand()
            some = asyncio.FIRST_COMPLETED
            await asyncio.wait({*tasks, stopped}, timeout=TICK_S, return_when=some)
        for held in self.held.values():
            held.stand()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=SETTLE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await self.saver.flush()

    async def _let_all_stand(self) -> None:
        try:
            for key, held in list(self.held.items()):
                await self._let_stand(key, held)
        except Exception:
            log.exception("%s could not see whether its work was cancelled", self.worker)
