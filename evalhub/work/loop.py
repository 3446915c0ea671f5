"""One process's work: an asyncio loop over all live batches, claiming fairly between them."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from django.db import transaction

from evalhub.llm.endpoint import Endpoint
from evalhub.work import clock, leases, pace
from evalhub.work.desk import BatchFailed, Desk, Gate, GivenBack
from evalhub.work.kinds import Kind, kinds
from evalhub.work.models import BatchState, ItemState, Worker
from evalhub.work.pace import Lanes
from evalhub.work.saver import Database, LeaseLost, Saver

log = logging.getLogger(__name__)

TICK_S = 1.0
"""Pause and cancel are read so often."""

JOIN_S = leases.BEAT_S + 1
"""A process that joins others at a model waits so long, until they have made room."""

Key = tuple[Kind, int]


@dataclass
class Held:
    """A batch of which this process holds items."""

    kind: Kind
    batch: Any
    endpoints: list[Endpoint]
    gate: Gate
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def room(self) -> int:
        """How many more items keep its models busy, with some at hand for what comes next."""
        if not self.endpoints:
            return 50 - len(self.tasks)
        widest = max(endpoint.max_concurrency for endpoint in self.endpoints)
        wanted = -(-widest // self._calls_to_busiest()) * 3 // 2 + 2
        return wanted - len(self.tasks)

    def _calls_to_busiest(self) -> int:
        models = [endpoint.language_model_id for endpoint in self.endpoints]
        return max(models.count(model) for model in set(models))


class Loop:
    """Works until nothing is left, the time is over, or `stop` is called."""

    def __init__(self, *, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.database = Database()
        self.lanes = Lanes()
        self.random = Random()
        self.held: dict[Key, Held] = {}
        self.changed = asyncio.Event()
        self.stopping = False
        self.saver: Saver
        self.worker: Worker

    def stop(self) -> None:
        """Claim nothing more; what is in flight is given a moment, then given back."""
        self.stopping = True
        self.changed.set()

    async def run(self) -> None:
        self.worker = await self.database(leases.register)
        self.saver = Saver(self.database, self.worker)
        try:
            async with background(self.saver.run()), background(self._beat()):
                await self._work()
                await self._settle()
        finally:
            await self.database(leases.sign_off, self.worker)
            await self.database.close()

    async def _work(self) -> None:
        while not self.stopping and time.monotonic() < self.ends_at:
            self.changed.clear()
            await self._look()
            claimed = await self._claim()
            if not claimed and not self._tasks() and not await self._wait_for_later():
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), TICK_S)

    def _tasks(self) -> set[asyncio.Task[None]]:
        return {task for held in self.held.values() for task in held.tasks}

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(leases.BEAT_S)
            try:
                await self.database.refresh()
                await self.database(leases.beat, self.worker, self.lanes.in_use())
                self.lanes.follow(await self.database(pace.read_shared, self.lanes.keys()))
                await self.database(leases.reap)
            except Exception:
                log.exception("The heartbeat of %s failed; trying again", self.worker)

    # Batches ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Read which batches live, and close the gates of those that do not any more."""
        live = await self.database(read_live)
        for key, (batch, endpoints, purse) in live.items():
            held = self.held.get(key)
            if held is None:
                self.held[key] = held = Held(key[0], batch, endpoints, Gate())
                await self._join(endpoints)
            held.gate.look(purse)
        for key, held in list(self.held.items()):
            if key not in live:
                await self._close(key, held)

    async def _join(self, endpoints: list[Endpoint]) -> None:
        """Tell the others that these models are now used here too, before they are."""
        new = [e for e in endpoints if e.language_model_id not in self.lanes.keys()]
        if not new:
            return
        lanes = [self.lanes.lane(endpoint) for endpoint in new]
        keys = self.lanes.keys()
        await self.database(leases.beat, self.worker, keys)
        self.lanes.follow(await self.database(pace.read_shared, keys))
        for lane in lanes:
            if lane.workers > 1:
                lane.silent_until = time.monotonic() + JOIN_S

    async def _close(self, key: Key, held: Held) -> None:
        held.gate.is_open = False
        state = await self.database(read_state, held.kind, held.batch.pk)
        if state != BatchState.PAUSED:
            for task in held.tasks:
                task.cancel()
        if not held.tasks:
            del self.held[key]

    # Items -----------------------------------------------------------------------------------

    async def _claim(self) -> int:
        """Claim for every batch what it has room for. Later kinds first: they end results."""
        claimed = 0
        for held in sorted(self.held.values(), key=lambda held: -kinds().index(held.kind)):
            if held.gate.is_open and held.gate.refused_usd is None and held.room > 0:
                claimed += await self._claim_for(held)
            await self._mark_if_over(held)
        return claimed

    async def _claim_for(self, held: Held) -> int:
        alone = not self._tasks()
        arguments = (held.kind, held.batch, self.worker, held.room, alone)
        jobs = await self.database(claim_jobs, *arguments)
        for job in jobs:
            task = asyncio.create_task(self._do(held, job))
            held.tasks.add(task)
            task.add_done_callback(held.tasks.discard)
            task.add_done_callback(lambda _: self.changed.set())
        return len(jobs)

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
        )
        try:
            await held.kind.perform(job, desk)
        except LeaseLost:
            log.warning("%s lost its lease on %s %s", self.worker, held.kind, job.item_id)
        except BatchFailed as error:
            held.gate.is_open = False
            await self._give_back(held, job, 0.0)
            await self.database(fail_batch, held.kind, held.batch.pk, str(error))
        except GivenBack as error:
            await self._give_back(held, job, error.after_s)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(held, job, 0.0))
            raise
        except Exception as error:
            log.exception("Doing %s %s failed", held.kind.item_model.__name__, job.item_id)
            await self.database(fail_item, held.kind, job.item_id, self.worker, repr(error))

    async def _give_back(self, held: Held, job: Any, after_s: float) -> None:
        await self.saver.flush()
        await self.database(give_back, held.kind, job.item_id, self.worker, after_s)

    async def _mark_if_over(self, held: Held) -> None:
        """Mark a batch as done, or as stopped by its cost limit, once nothing is in flight."""
        if held.tasks or not held.gate.is_open:
            return
        if held.gate.refused_usd is not None:
            purse = await self.database(held.kind.purse, held.batch)
            if not held.gate.look_again(purse):
                await self.database(pause_spent, held.kind, held.batch.pk)
        else:
            await self.database(finish_if_done, held.kind, held.batch.pk)

    async def _wait_for_later(self) -> bool:
        """Whether something is to be tried later, for which this process should stay."""
        return await self.database(is_anything_left)

    async def _settle(self) -> None:
        """At the end: give calls in flight a moment, then give their items back."""
        for held in self.held.values():
            held.gate.is_open = False
        if tasks := self._tasks():
            _, late = await asyncio.wait(tasks, timeout=SETTLE_S if self.stopping else None)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self.saver.flush()


SETTLE_S = 5.0


@asynccontextmanager
async def background(coroutine: Any) -> AsyncIterator[None]:
    """Run something beside the block, and end it with the block."""
    task = asyncio.create_task(coroutine)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# What the loop asks of the database, each in the database's own thread --------------------------


def read_live() -> dict[Key, tuple[Any, list[Endpoint], Any]]:
    """Every live batch with the endpoints that an item of it calls, and its purse."""
    return {
        (kind, batch.pk): (batch, kind.endpoints(batch), kind.purse(batch))
        for kind in kinds()
        for batch in kind.batches().filter(state=BatchState.LIVE)
    }


def read_state(kind: Kind, batch_id: int) -> str:
    return str(kind.batches().values_list("state", flat=True).get(pk=batch_id))


def claim_jobs(kind: Kind, batch: Any, worker: Worker, most: int, alone: bool) -> list[Any]:
    ids = leases.claim(kind, batch.pk, worker, most, alone=alone)
    if not ids:
        return []
    kind.batches().filter(pk=batch.pk, started_at=None).update(started_at=clock.now())
    return kind.prepare(batch, ids)


def give_back(kind: Kind, item_id: int, worker: Worker, after_s: float) -> None:
    mine = kind.items().filter(pk=item_id, worker=worker, state=ItemState.PENDING)
    later = {"next_try_at": clock.now() + timedelta(seconds=after_s)} if after_s else {}
    leases.release(mine, **later)


def fail_item(kind: Kind, item_id: int, worker: Worker, message: str) -> None:
    """An error of our own: it is shown as what it is, and can be retried."""
    with transaction.atomic():
        kind.items().filter(pk=item_id, worker=worker).update(
            state=ItemState.ERROR, error_kind="internal", error_message=message, worker=None
        )
        kind.on_error([item_id])


def fail_batch(kind: Kind, batch_id: int, reason: str) -> None:
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    live.update(state=BatchState.FAILED, reason=reason)


def pause_spent(kind: Kind, batch_id: int) -> None:
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    live.update(
        state=BatchState.PAUSED,
        reason="The cost limit is reached: raise it and resume, or leave it as it is.",
    )


def finish_if_done(kind: Kind, batch_id: int) -> None:
    """Done by one conditional update, when nothing is left."""
    with transaction.atomic():
        batch = kind.batches().get(pk=batch_id)
        if not batch.is_live or kind.remaining(batch).exists():
            return
        live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
        if live.update(state=BatchState.DONE, reason="", finished_at=clock.now()):
            kind.finish(batch)


def is_anything_left() -> bool:
    left: dict[Kind, bool] = defaultdict(bool)
    for kind in kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE):
            left[kind] |= kind.claimable(batch).filter(state=ItemState.PENDING).exists()
    return any(left.values())
