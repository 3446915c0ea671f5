"""Saving as replies arrive, in short transactions that many of them share.

Saves that arrive while a transaction is being written go into the next one, so that a busy process
needs few transactions and an idle one saves at once. While the database cannot be reached, saves
wait in memory.
"""

import asyncio
import logging
import time
from collections import defaultdict
from dataclasses import replace

from django.db import transaction

from evalhub.llm.models import Call
from evalhub.work import unsaved_replies
from evalhub.work.database import Database, Unavailable
from evalhub.work.kinds import AnyKind, Save
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.models import Worker
from evalhub.work.spending import add_spent

log = logging.getLogger(__name__)

STUCK_S = 2.0
"""Time after which a transaction that does not end counts as stuck, as behind a lock."""

GATHER_S, LONGEST_GATHER_S = 0.02, 0.2
"""Bounds of the time for which saves are gathered into a transaction, by how long the last took."""

Waiting = tuple[Save | None, "asyncio.Future[bool]"]
"""A save and its outcome; None in place of the save marks a `flush`."""


class Saver:
    """Collects saves and writes them, fenced by the worker's leases."""

    def __init__(self, database: Database, worker: Worker, limiters: RateLimiters) -> None:
        self.database, self.worker, self.limiters = database, worker, limiters
        self._waiting: list[Waiting] = []
        self._being_stored: list[Waiting] = []
        self._began_at, self._took_s = 0.0, 0.0
        self._arrived = asyncio.Event()
        self._is_over = False

    def add(self, save: Save | None) -> "asyncio.Future[bool]":
        """Queue a save; its future is True once saved, False if the lease was lost."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((save, future))
        self._arrived.set()
        if self._is_over:
            self._drop()
        return future

    @property
    def items(self) -> set[tuple[AnyKind, int]]:
        """The items of which something waits to be saved."""
        waiting = (save for save, _ in [*self._waiting, *self._being_stored] if save is not None)
        return {(save.kind, save.item_id) for save in waiting}

    async def flush(self) -> None:
        """Wait until everything queued so far has been saved or has failed."""
        await self.add(None)

    async def run(self) -> None:
        try:
            while True:
                await self._arrived.wait()
                await self.limiters.give_way(self._took_s, GATHER_S, LONGEST_GATHER_S)
                self._arrived.clear()
                self._being_stored, self._waiting = self._waiting, []
                self._began_at = time.monotonic()
                await self._store(self._being_stored)
                self._being_stored = []
                self._took_s = time.monotonic() - self._began_at
        finally:
            self.end()

    @property
    def is_stuck(self) -> bool:
        return bool(self._being_stored) and time.monotonic() > self._began_at + STUCK_S

    def end(self) -> None:
        """Save nothing any more: what waits, and what comes, is kept in files."""
        self._is_over = True
        self._drop()

    def _drop(self) -> None:
        """Cancel everything that is queued: nothing is saved any more."""
        waiting = [*self._being_stored, *self._waiting]
        self._being_stored, self._waiting = [], []
        self._keep_in_file([save for save, future in waiting if save and not future.done()])
        for _, future in waiting:
            if not future.done():
                future.cancel()

    async def _store(self, waiting: list[Waiting]) -> None:
        waiting = [one for one in waiting if _may_be_made(*one)]
        saves = [save for save, _ in waiting if save is not None]
        try:
            held = await self.database.with_retries(store, saves, self.worker.pk) if saves else []
        except Unavailable as error:  # and the worker is ending
            self._keep_in_file(saves)
            for _, future in waiting:
                _fail(future, error)
            return
        except Exception:
            log.exception("Saving %d items together failed: now one by one", len(saves))
            for save, future in waiting:
                if _may_be_made(save, future):
                    await self._store_alone(save, future)
            return
        kept = iter(held)
        for save, future in waiting:
            _end(future, is_kept=save is None or next(kept))

    async def _store_alone(self, save: Save | None, future: "asyncio.Future[bool]") -> None:
        """Save one alone: a bad row must not lose its neighbours' answers, nor its own calls."""
        kept = True
        try:
            if save is not None:
                kept = (await self.database.with_retries(store, [save], self.worker.pk))[0]
        except Exception as error:
            assert save is not None
            log.exception("This cannot be saved: %s", save)
            await self._store_calls_only(save)
            _fail(future, error)
        else:
            _end(future, is_kept=kept)

    async def _store_calls_only(self, save: Save) -> None:
        for call in save.calls:
            call.keep_reply()
        try:
            await self.database.with_retries(store, [replace(save, content=None)], self.worker.pk)
        except Exception:
            log.exception("Not even its calls can be recorded: %s", save)
            self._keep_in_file([save])

    def _keep_in_file(self, saves: list[Save]) -> None:
        unsaved_replies.write([call for save in saves for call in save.calls])


def _may_be_made(save: Save | None, future: "asyncio.Future[bool]") -> bool:
    """Return False if an earlier save that this one needs was not made: it ends like that one.

    An earlier one that has not ended is made in the same transaction.
    """
    ended = [earlier for earlier in save.after if earlier.done()] if save else []
    for earlier in ended:
        if earlier.cancelled():
            future.cancel()
        elif error := earlier.exception():
            _fail(future, error)
        elif not earlier.result():
            _end(future, is_kept=False)
        else:
            continue
        return False
    return True


def _end(future: "asyncio.Future[bool]", *, is_kept: bool) -> None:
    if not future.done():
        future.set_result(is_kept)


def _fail(future: "asyncio.Future[bool]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # seen: not everybody waits for what becomes of a save


def store(saves: list[Save], worker_id: int) -> list[bool]:
    """Save in one transaction. Return for each save if its lease was still held.

    Rows are locked in the order batch, item, result, as in every action on a run.
    """
    calls = [call for save in saves for call in save.calls if call.pk is None]
    try:
        with transaction.atomic():
            return _write(saves, calls, worker_id)
    except Exception:
        for call in calls:  # what was rolled back has no key: another row may get it now
            call.pk, call._state.adding = None, True
        raise


def _write(saves: list[Save], calls: list[Call], worker_id: int) -> list[bool]:
    """Save everything; `calls` are those without a record."""
    add_spent(calls)
    held = _held(saves, worker_id)
    kept = [(save.kind, save.item_id) in held for save in saves]
    groups: dict[AnyKind, list[Save]] = defaultdict(list)
    taken: list[int] = []
    for save, is_kept in zip(saves, kept, strict=True):
        if save.content is not None and not is_kept:
            for call in save.calls:
                call.keep_reply()
            continue
        taken += [call.pk for call in save.calls if call.pk is not None]
        if save.content is not None:
            groups[save.kind].append(save)
    if taken:
        Call.objects.filter(pk__in=taken).update(unsaved=None)
    Call.objects.bulk_create(calls)
    for kind, group in groups.items():
        kind.store(group)
    return kept


def _held(saves: list[Save], worker_id: int) -> set[tuple[AnyKind, int]]:
    wanted: dict[AnyKind, set[int]] = defaultdict(set)
    for save in saves:
        wanted[save.kind].add(save.item_id)
    held = set()
    for kind, ids in wanted.items():
        rows = kind.items().select_for_update(of=("self",)).filter(pk__in=ids, worker=worker_id)
        held |= {(kind, pk) for pk in rows.order_by("pk").values_list("pk", flat=True)}
    return held
