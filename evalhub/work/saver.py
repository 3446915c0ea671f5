"""Saving as things arrive, in short transactions that many of them share.

All database work of a worker process runs in one thread. What arrives while a transaction is
being written goes into the next one, so a busy process needs few of them and an idle one saves
at once. While the database cannot be reached, everything waits in memory.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from django.db import (
    InterfaceError,
    OperationalError,
    close_old_connections,
    connection,
    transaction,
)
from django.db.models import F

from evalhub.llm.models import Call
from evalhub.work import clock
from evalhub.work.kinds import Kind, Save, kinds
from evalhub.work.models import Worker

log = logging.getLogger(__name__)
T = TypeVar("T")

GATHER_S = 0.02
"""How long a save waits for company."""

AGAIN_S = 1.0
"""How long to wait for a database that cannot be reached before the next try."""

MOST_TRIES = 3
"""Of what fails though the database can be reached."""

Waiting = tuple[Save | None, "asyncio.Future[bool]"]
"""None: nothing is to be saved, someone waits for what arrived before."""


class LeaseLost(Exception):
    """Another worker has the item now: this one was taken for dead."""


class Database:
    """The one thread in which this process talks to the database.

    `is_patient`: calls through `surely` wait for a database that cannot be reached.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self.is_patient = True

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        events = asyncio.get_running_loop()
        return await events.run_in_executor(self._thread, _attempt, function, args)

    async def surely(self, function: Callable[..., T], *args: Any) -> T:
        """The same, as often as it takes until the database can be reached.

        `function` must be one transaction, and do no harm when done twice. Its own errors are
        raised as they are; one that may pass, such as a deadlock, when it has come three times.
        """
        own_errors = 0
        while True:
            try:
                return await self(function, *args)
            except (OperationalError, InterfaceError) as error:
                own_errors += not isinstance(error, Unreachable) and await self._is_there()
                if not self.is_patient or own_errors == MOST_TRIES:
                    raise
                log.warning("The database did not do it, trying again: %s", error)
                await asyncio.sleep(AGAIN_S)

    async def _is_there(self) -> bool:
        try:
            await self(_begin_and_end)
        except (OperationalError, InterfaceError):
            return False
        return True

    async def close(self) -> None:
        await self(lambda: connection.close())  # the thread's own connection, not this one's
        self._thread.shutdown()

    async def refresh(self) -> None:
        """Drop a connection that has broken or grown old."""
        await self(close_old_connections)


SHUT_DOWN = {"57P01", "57P02", "57P03"}
"""PostgreSQL's states for a server that ends a connection, or is about to start."""


class Unreachable(OperationalError):
    """The connection to the database broke, or could not be made."""


def _attempt(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return function(*args)
    except (OperationalError, InterfaceError) as error:
        is_lost = _is_of_connection(error)
        connection.close()  # it may be broken, and would fail every call after this one
        if is_lost:
            raise Unreachable(*error.args) from error
        raise


def _is_of_connection(error: Exception) -> bool:
    """Whether an error says that the connection broke, not that the database refused.

    On PostgreSQL the connection's own state does not tell: a transaction's end makes a new one.
    """
    state = getattr(error.__cause__, "sqlstate", "")
    if state == "":  # SQLite has none
        return connection.connection is None or not connection.is_usable()
    return state is None or state.startswith("08") or state in SHUT_DOWN


def _begin_and_end() -> None:
    """A transaction that asks nothing of any table: on SQLite it takes the lock for writing."""
    with transaction.atomic():
        clock.now()


class Saver:
    """Collects what is to be saved, and saves it fenced by the worker's leases."""

    def __init__(self, database: Database, worker: Worker) -> None:
        self.database, self.worker = database, worker
        self._waiting: list[Waiting] = []
        self._arrived = asyncio.Event()
        self._is_over = False

    def add(self, save: Save | None) -> "asyncio.Future[bool]":
        """Queue something; the future is True once saved, False where the lease was lost."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((save, future))
        self._arrived.set()
        if self._is_over:
            self._drop()
        return future

    async def flush(self) -> None:
        """Wait until all that was added before has been saved, or could not be."""
        await self.add(None)

    async def run(self) -> None:
        """Save what arrives, until cancelled."""
        try:
            while True:
                await self._arrived.wait()
                await asyncio.sleep(GATHER_S)
                self._arrived.clear()
                waiting, self._waiting = self._waiting, []
                await self._store(waiting)
        finally:
            self._is_over = True
            self._drop()

    def _drop(self) -> None:
        """Nobody saves any more: who waits is told so."""
        waiting, self._waiting = self._waiting, []
        for save, future in waiting:
            if save is not None:
                log.error("Not saved, as the worker has ended: %s", save)
            if not future.done():
                future.cancel()

    async def _store(self, waiting: list[Waiting]) -> None:
        saves = [save for save, _ in waiting if save is not None]
        try:
            live_batch = await self.database.surely(store, saves, self.worker.pk) if saves else []
        except Exception:
            log.exception("Saving %d items together failed: now one by one", len(saves))
            for save, future in waiting:
                await self._store_alone(save, future)
            return
        kept = iter(live_batch)
        for save, future in waiting:
            is_kept = save is None or next(kept)
            if not future.done():
                future.set_result(is_kept)

    async def _store_alone(self, save: Save | None, future: "asyncio.Future[bool]") -> None:
        """One bad row must not take its neighbours' answers with it, nor its own calls."""
        kept, problem = True, None
        try:
            if save is not None:
                kept = (await self.database.surely(store, [save], self.worker.pk))[0]
        except Exception as error:
            problem = error
            log.exception("This cannot be saved: %s", save)
            await self._store_calls_only(save)
        if future.done():
            return
        if problem is not None:
            future.set_exception(problem)
            future.exception()  # seen: not everybody waits for what becomes of a save
        else:
            future.set_result(kept)

    async def _store_calls_only(self, save: Save | None) -> None:
        if save is None or save.content is None or not save.calls:
            return
        try:
            await self.database.surely(store, [replace(save, content=None)], self.worker.pk)
        except Exception:
            log.exception("Not even its calls can be recorded: %s", save)


def store(saves: list[Save], worker_id: int) -> list[bool]:
    """Save in one transaction. Returns for each whether its lease was still held.

    Rows are locked in the order batch, item, result, as in everything that people do to a run.
    """
    calls = [call for save in saves for call in save.calls]
    try:
        with transaction.atomic():
            return _write(saves, calls, worker_id)
    except Exception:
        for call in calls:  # what was rolled back has no key: another row may get it now
            call.pk, call._state.adding = None, True
        raise


def _write(saves: list[Save], calls: list[Call], worker_id: int) -> list[bool]:
    _add_spent(saves)
    live_batch = _held(saves, worker_id)
    kept = [(save.kind, save.item_id) in live_batch for save in saves]
    Call.objects.bulk_create(calls)
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
    live_batch = set()
    for kind, ids in wanted.items():
        rows = kind.items().select_for_update(of=("self",)).filter(pk__in=ids, worker=worker_id)
        live_batch |= {(kind, pk) for pk in rows.order_by("pk").values_list("pk", flat=True)}
    return live_batch


def _add_spent(saves: list[Save]) -> None:
    spent: dict[tuple[Kind, int], Decimal] = defaultdict(Decimal)
    for save in saves:
        spent[save.kind, save.batch_id] += sum(
            (c.cost_usd or Decimal(0) for c in save.calls), Decimal(0)
        )
    for kind, batch_id in sorted(spent, key=lambda key: (kinds().index(key[0]), key[1])):
        if amount := spent[kind, batch_id]:
            kind.batches().filter(pk=batch_id).update(spent_usd=F("spent_usd") + amount)
