"""Saving as things arrive, in short transactions that many of them share.

All database work of a worker process runs in one thread. What arrives while a transaction is
being written goes into the next one, so a busy process needs few of them and an idle one saves
at once.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, TypeVar

from django.db import close_old_connections, connection, transaction
from django.db.models import F

from evalhub.llm.models import Call
from evalhub.work.kinds import Kind, Save
from evalhub.work.models import Worker

log = logging.getLogger(__name__)
T = TypeVar("T")

GATHER_S = 0.02
"""How long a save waits for company."""

Waiting = tuple[Save, "asyncio.Future[bool]"]


class LeaseLost(Exception):
    """Another worker has the item now: this one was taken for dead."""


class Database:
    """The one thread in which this process talks to the database."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def close(self) -> None:
        await self(lambda: connection.close())  # the thread's own connection, not this one's
        self._thread.shutdown()

    async def refresh(self) -> None:
        """Drop a connection that has broken or grown old."""
        await self(close_old_connections)


class Saver:
    """Collects what is to be saved, and saves it fenced by the worker's leases."""

    def __init__(self, database: Database, worker: Worker) -> None:
        self.database, self.worker = database, worker
        self._waiting: list[Waiting] = []
        self._arrived = asyncio.Event()

    def add(self, save: Save) -> "asyncio.Future[bool]":
        """Queue something; the future is True once saved, False where the lease was lost."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((save, future))
        self._arrived.set()
        return future

    async def save(self, save: Save) -> None:
        """Wait until it is saved.

        Raises:
            LeaseLost: The item belongs to another worker now.
        """
        if not await self.add(save):
            raise LeaseLost

    async def run(self) -> None:
        """Save what arrives, until cancelled."""
        while True:
            await self._arrived.wait()
            await asyncio.sleep(GATHER_S)
            await self.flush()

    async def flush(self) -> None:
        self._arrived.clear()
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            held = await self.database(store, [save for save, _ in waiting], self.worker.pk)
        except Exception as error:
            log.exception("Saving %d items together failed", len(waiting))
            await self._one_by_one(waiting, error)
            return
        for (_, future), kept in zip(waiting, held, strict=True):
            if not future.done():
                future.set_result(kept)

    async def _one_by_one(self, waiting: list[Waiting], error: Exception) -> None:
        """One bad row must not take its neighbours' answers with it."""
        for save, future in waiting:
            try:
                kept = (await self.database(store, [save], self.worker.pk))[0]
            except Exception as own_error:
                if not future.done():
                    future.set_exception(own_error)
            else:
                if not future.done():
                    future.set_result(kept)


def store(saves: list[Save], worker_id: int) -> list[bool]:
    """Save in one transaction. Returns for each whether its lease was still held."""
    with transaction.atomic():
        held = _held(saves, worker_id)
        kept = [(save.kind, save.item_id) in held for save in saves]
        _record_calls([call for save in saves for call in save.calls])
        _add_spent(saves)
        groups: dict[Kind, list[Save]] = defaultdict(list)
        for save, is_kept in zip(saves, kept, strict=True):
            if is_kept and save.content is not None:
                groups[save.kind].append(save)
        for kind, group in groups.items():
            kind.store(group)
    return kept


def _held(saves: list[Save], worker_id: int) -> set[tuple[Kind, int]]:
    wanted: dict[Kind, set[int]] = defaultdict(set)
    for save in saves:
        wanted[save.kind].add(save.item_id)
    held = set()
    for kind, ids in wanted.items():
        rows = kind.items().select_for_update(of=("self",)).filter(pk__in=ids, worker=worker_id)
        held |= {(kind, pk) for pk in rows.values_list("pk", flat=True)}
    return held


def _record_calls(calls: list[Call]) -> None:
    if calls:
        Call.objects.bulk_create(calls)


def _add_spent(saves: list[Save]) -> None:
    spent: dict[tuple[Kind, int], Decimal] = defaultdict(Decimal)
    for save in saves:
        spent[save.kind, save.batch_id] += sum(
            (c.cost_usd or Decimal(0) for c in save.calls), Decimal(0)
        )
    for (kind, batch_id), amount in spent.items():
        if amount:
            kind.batches().filter(pk=batch_id).update(spent_usd=F("spent_usd") + amount)
