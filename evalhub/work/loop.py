"""The work of one process: an asyncio loop over all live batches, which claims fairly."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

from django.db import InterfaceError, OperationalError

from evalhub.access.sealing.exposures import Sendings
from evalhub.llm.models import Call
from evalhub.logs import describe
from evalhub.values import clock
from evalhub.work import batches, leases, unsaved_replies
from evalhub.work.batches import Key, LiveBatch, internal
from evalhub.work.calls import sent_calls
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.calls.errors import BatchFailed, GivenBack, LeaseLost
from evalhub.work.database import Database, Unavailable
from evalhub.work.heartbeat import Heartbeat
from evalhub.work.kinds import Job, Save, kinds
from evalhub.work.limits.cost_reservations import Funding
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.models import LEASE_S, BatchState, Worker
from evalhub.work.saver import STUCK_S, Saver

log = logging.getLogger(__name__)

TICK_S = 0.5
"""Interval at which pauses and cancellations are read."""

SETTLE_S = 4.0
"""Time for calls in flight to end after `stop`."""


class Loop:
    """Works until no work is left, the time is over, or `stop` is called."""

    def __init__(self, *, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.database, self.beats = Database(), Database()
        self.sendings = Sendings(self.database.with_retries)
        self.limiters = RateLimiters()
        self.random = Random()
        self.live_batches: dict[Key, LiveBatch] = {}
        self.suspect: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()
        self.stopped = asyncio.Event()
        self.performed = Counter[str]()
        self.sent: sent_calls.SentCalls
        self.saver: Saver
        self.worker: Worker
        self.heartbeat: Heartbeat
        self.funding: Funding

    def stop(self) -> None:
        """Claim nothing more; let calls in flight end for a moment, then give their items back."""
        self.database.is_patient = self.beats.is_patient = False
        self.stopped.set()
        self.changed.set()

    async def run(self) -> None:
        try:
            self.worker = await self.database(leases.register)
            try:
                await self.database.with_retries(unsaved_replies.take_in)
                await self.database.with_retries(sent_calls.take_in)
                await self._run()
            finally:
                try:
                    await self.database(leases.sign_off, self.worker, self.limiters.left())
                except Exception:
                    log.exception("%s could not sign off: its leases expire", self.worker)
        finally:
            await self.beats.close()
            await self.database.close()

    async def _run(self) -> None:
        self.sent = sent_calls.SentCalls()
        self.saver = Saver(self.database, self.worker, self.limiters)
        self.funding = Funding(self.database, self.worker)
        self.heartbeat = Heartbeat(
            self.beats, self.worker, self.limiters, self.live_batches, self.saver, self.changed
        )
        async with (
            self._beside(self.saver.run()),
            self._beside(self.heartbeat.run()),
            self._beside(self.heartbeat.keep_up()),
        ):
            try:
                await self._until_stopped(asyncio.create_task(self._work()))
            except asyncio.CancelledError:
                self.stop()
                raise
            finally:
                await self._settle()
        self.sent.end()

    @asynccontextmanager
    async def _beside(self, coroutine: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Run a coroutine beside the block; if it fails, stop the work, then raise."""
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

    async def _until_stopped(self, work: asyncio.Task[None]) -> None:
        """Wait for the work; after `stop`, no longer than a moment, as for a locked database."""
        stopped = asyncio.create_task(self.stopped.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({work}, timeout=TICK_S)
        finally:
            stopped.cancel()
            work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    async def _work(self) -> None:
        while not self.stopped.is_set() and time.monotonic() < self.ends_at:
            began_at = time.monotonic()
            self.changed.clear()
            try:
                await self._look()
                may_claim = await self.heartbeat.check_schema()
                is_busy = (may_claim and await self._claim()) or self._tasks()
                if not is_busy and not await self.database.with_retries(batches.is_anything_left):
                    return
            except Exception:
                log.exception("A round of %s failed; trying again", self.worker)
                await asyncio.sleep(TICK_S)
            took_s = time.monotonic() - began_at
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), TICK_S)
                # What ends together is looked at together, and saving has time between rounds.
                await self.limiters.give_way(took_s, 0.0, TICK_S)

    def _tasks(self) -> set[asyncio.Task[None]]:
        return {task for live_batch in self.live_batches.values() for task in live_batch.tasks}

    # Batches ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Read the live batches, and close the gates of all others."""
        live = await self.database.with_retries(batches.read_live)
        for key, (batch, endpoints, spend) in live.items():
            live_batch = self.live_batches.setdefault(key, LiveBatch(key[0]))
            live_batch.follow(batch, endpoints)
            live_batch.gate.budget = self.funding.budget(batch, spend)
        await self.funding.give_back_unused()
        for key, live_batch in list(self.live_batches.items()):
            if key in live:
                await self.funding.reconsider(live_batch)
            else:
                await self._stop_batch(key, live_batch)
        models = {model for batch in self.live_batches.values() for model in batch.models}
        if self.limiters.know(models):
            await self.heartbeat.follow()
        await self.heartbeat.announce()
        for live_batch in self.live_batches.values():
            for task in live_batch.surplus(self.limiters):
                task.cancel()

    async def _stop_batch(self, key: Key, live_batch: LiveBatch) -> None:
        """Start no call; if the batch was cancelled, end those in flight."""
        live_batch.stop_calls()
        if not live_batch.tasks:
            del self.live_batches[key]
        elif not live_batch.is_cancelled:
            live_batch.is_cancelled = await self.database.with_retries(
                batches.is_cancelled, *live_batch.key
            )
            if live_batch.is_cancelled:
                for task in live_batch.tasks:
                    task.cancel()

    # Items -----------------------------------------------------------------------------------

    async def _claim(self) -> int:
        """Claim items for every batch with room. Later kinds come first: they complete results."""
        claimed = 0
        for live_batch in sorted(
            self.live_batches.values(), key=lambda live_batch: -kinds().index(live_batch.kind)
        ):
            try:
                if live_batch.may_claim and (self.suspect is None or self.suspect.done()):
                    claimed += await self._claim_for(live_batch)
                await self._mark_if_over(live_batch)
            except (OperationalError, InterfaceError):
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", live_batch.batch)
                await self._stop_as(live_batch, BatchState.FAILED, internal(error))
        return claimed

    async def _claim_for(self, live_batch: LiveBatch) -> int:
        if (free_slots := live_batch.free_slots(self.limiters)) < 1:
            await self._join(live_batch)
            return 0
        try:
            async with self.heartbeat.claiming:
                return await self._start(live_batch, free_slots)
        except Unavailable as error:
            log.warning("Claiming items of %s failed, trying again: %s", live_batch.batch, error)
            return 0

    async def _join(self, live_batch: LiveBatch) -> None:
        """Announce models that others use wholly, if items wait: they then keep to their part."""
        is_crowded = self.limiters.are_crowded(live_batch.models)
        if is_crowded and await self.database.with_retries(batches.has_due_items, *live_batch.key):
            self.limiters.need(live_batch.models)
            await self.heartbeat.announce()

    async def _start(self, live_batch: LiveBatch, free_slots: int) -> int:
        """Claim items and start to do them. What a broken claim leased is given back later.

        So is what was claimed a lease ago, as by a process that slept: others may do it now.
        """
        alone, began_at = not self._tasks(), clock.since_boot()
        claim = await self.database(
            batches.claim,
            *live_batch.key,
            self.worker,
            free_slots,
            alone,
            live_batch.last_wave(self.limiters),
        )
        live_batch.is_ending = claim.is_ending
        live_batch.claimed()
        if not claim.item_ids:
            return 0
        new = live_batch.take_again(claim.item_ids)
        jobs = await self._prepared(live_batch, new)
        unsaved = await self.database.with_retries(
            unsaved_replies.of_items, live_batch.batch.work_key, new
        )
        if clock.since_boot() > began_at + LEASE_S:
            return 0
        for job in jobs:
            caller = self._caller(live_batch, job, unsaved.get(job.item_id, []))
            task = live_batch.start(self._do(live_batch, job, caller), caller)
            task.add_done_callback(lambda _: self.changed.set())
            if claim.is_suspect:
                self.suspect = task
        self.limiters.need(live_batch.models)
        await self.heartbeat.announce()
        return len(jobs)

    async def _prepared(self, live_batch: LiveBatch, item_ids: list[int]) -> list[Any]:
        """Return the jobs of items; an item that cannot be prepared ends in an error, alone."""
        prepare = live_batch.kind.prepare
        try:
            return await self.database.with_retries(prepare, live_batch.batch, item_ids)
        except Exception:
            log.exception("Preparing %s failed: now one by one", live_batch.batch)
        jobs = []
        for item_id in item_ids:
            try:
                jobs += await self.database.with_retries(prepare, live_batch.batch, [item_id])
            except Exception as error:
                await self._fail(live_batch, item_id, error)
        return jobs

    def _caller(self, live_batch: LiveBatch, job: Job, unsaved: list[Call]) -> ModelCaller:
        kind, batch, gate = live_batch.kind, live_batch.batch, live_batch.gate
        return ModelCaller(
            work_key=batch.work_key,
            item_id=job.item_id,
            worker_id=self.worker.pk,
            gate=gate,
            limiters=self.limiters,
            queue_save=lambda content, calls, after: self.saver.add(
                Save(kind, batch.pk, job.item_id, content, calls, after)
            ),
            database=self.database,
            random=self.random,
            sendings=self.sendings,
            sent=self.sent,
            sealed=kind.sealed_tests(job),
            fund=lambda estimate: self.funding.ensure(kind, batch, gate.budget, estimate),
            may_hold=self.heartbeat.may_hold,
            unsaved=unsaved,
        )

    async def _do(self, live_batch: LiveBatch, job: Job, caller: ModelCaller) -> None:
        kind, batch = live_batch.kind, live_batch.batch
        describe(request_id=batch.request_id, work=batch.work_key)
        try:
            await kind.perform(job, caller)
            self.performed[batch.work_name] += 1
        except LeaseLost:
            log.warning("%s lost its lease on %s %s", self.worker, kind, job.item_id)
        except BatchFailed as error:
            live_batch.gate.is_open = False
            await self._give_back(live_batch, caller)
            await self._stop_as(live_batch, BatchState.FAILED, str(error))
            live_batch.stop_calls()
        except GivenBack as error:
            await self._give_back(live_batch, caller, error.after_s)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(live_batch, caller))
            raise
        except Unavailable:
            log.warning("%s %s is done again when its lease has ended", kind, job.item_id)
        except Exception as error:
            if await self.heartbeat.check_schema(at_once=True):
                await self._fail(live_batch, job.item_id, error)
            else:
                await self._give_back(live_batch, caller)
        await self._stop_if_refused(live_batch)

    async def _stop_if_refused(self, live_batch: LiveBatch) -> None:
        """Stop a batch whose requests are all refused. Those refused so far are errors of items."""
        refusals = live_batch.gate.refusals
        if reason := refusals.reason:
            refusals.reason = ""
            await self._stop_as(live_batch, BatchState.FAILED, reason)
            live_batch.stop_calls()

    async def _fail(self, live_batch: LiveBatch, item_id: int, error: Exception) -> None:
        log.error("Doing item %s of %s failed", item_id, live_batch.batch, exc_info=error)
        arguments = (live_batch.kind, item_id, self.worker, internal(error))
        await self.database.with_retries(batches.fail_item, *arguments)

    async def _give_back(
        self, live_batch: LiveBatch, caller: ModelCaller, after_s: float = 0.0
    ) -> None:
        """Release an item. It may be claimed here again before its task has ended."""
        await self.saver.flush()
        caller.is_given_back = True
        arguments = (live_batch.kind, [caller.item_id], self.worker, after_s)
        await self.database.with_retries(batches.give_back, *arguments)

    async def _mark_if_over(self, live_batch: LiveBatch) -> None:
        """Mark a batch as done, or as paused by its cost limit, once nothing is in flight."""
        if live_batch.tasks or not live_batch.gate.is_open:
            return
        if live_batch.gate.refused_usd is None:
            await self.database.with_retries(batches.finish_if_done, *live_batch.key)
        elif not any(
            other.tasks
            for other in self.live_batches.values()
            if other.gate.budget is live_batch.gate.budget
        ):
            await self.saver.flush()
            if await self.funding.is_exhausted(live_batch):
                reason = "Paused at its cost limit. To continue, raise the limit and resume."
                await self._stop_as(live_batch, BatchState.PAUSED, reason)

    async def _stop_as(self, live_batch: LiveBatch, state: BatchState, reason: str) -> None:
        await self.database.with_retries(batches.stop_batch, *live_batch.key, state, reason)

    # The end ---------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Let calls in flight end; after `stop`, give their items back after a moment."""
        stopped = asyncio.create_task(self.stopped.wait())
        while (tasks := self._tasks()) and not self.stopped.is_set():
            try:
                for key, live_batch in list(self.live_batches.items()):
                    await self._stop_batch(key, live_batch)
            except Exception:
                log.exception("%s could not see whether its work was cancelled", self.worker)
            some = asyncio.FIRST_COMPLETED
            await asyncio.wait({*tasks, stopped}, timeout=TICK_S, return_when=some)
        for live_batch in self.live_batches.values():
            live_batch.stop_calls()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=SETTLE_S)
            if self.saver.is_stuck:
                self.saver.end()
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        stopped.cancel()
        with suppress(asyncio.CancelledError, TimeoutError, Unavailable):
            await asyncio.wait_for(self.saver.flush(), STUCK_S if self.stopped.is_set() else None)
