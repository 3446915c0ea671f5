"""Leases: a worker's id on an item. One heartbeat renews all of a worker's leases."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet

from evalhub.llm.retry import CLAIMS_TOGETHER
from evalhub.values import clock
from evalhub.work.kinds import AnyKind, kinds
from evalhub.work.models import (
    LEASE_S,
    Batch,
    BatchState,
    CostReservation,
    Item,
    ItemState,
    Worker,
)
from evalhub.work.processes import process_identity

BEAT_S = LEASE_S / 4


def register() -> Worker:
    now, pid = clock.now(), os.getpid()
    return Worker.objects.create(
        name=f"{socket.gethostname()[:70]}:{pid}-{secrets.token_hex(4)}",
        process=process_identity.identity(pid),
        started_at=now,
        beat_at=now,
    )


def workers_alive() -> int:
    return Worker.objects.filter(alive()).count()


def alive() -> Q:
    """Return the condition for a worker to be running: not stopped, with a recent heartbeat."""
    return Q(stopped_at=None, beat_at__gt=clock.ago(LEASE_S))


def beat(worker: Worker, at: datetime, uses: dict[str, Any], problem: str = "") -> None:
    """Renew every lease that the worker holds.

    Args:
        at: The database's time when the worker last read the other workers' announcements: it
            knows everything announced before.
        uses: The worker's own announcement (`RateLimiters.uses`).
        problem: Why it claims nothing; "": it claims.
    """
    Worker.objects.filter(pk=worker.pk).update(
        beat_at=at, models_in_use=uses, problem=problem, stopped_at=None
    )


def reconcile(
    worker: Worker, doing: Mapping[AnyKind, set[int]], *, is_claiming: bool = False
) -> dict[AnyKind, set[int]]:
    """Release what the worker holds and is not doing; return what it does and no longer holds.

    A claim whose connection breaks at its end may have been committed, and an item whose end could
    not be saved stays leased: nobody would do these while the worker lives.

    Args:
        is_claiming: It may hold items that it is about to do: nothing is released.
    """
    lost = {}
    for kind in kinds():
        mine = kind.items().filter(worker=worker, state=ItemState.PENDING)
        held, known = set(mine.values_list("pk", flat=True)), doing.get(kind, set())
        if held - known and not is_claiming:
            release(mine.filter(pk__in=held - known))
        lost[kind] = known - held
    return lost


def sign_off(worker: Worker, uses: dict[str, Any]) -> None:
    """Release the worker's leases without counting them as attempts, and mark it as stopped."""
    with transaction.atomic():
        now = clock.now()
        Worker.objects.filter(pk=worker.pk).update(stopped_at=now, beat_at=now, models_in_use=uses)
        for kind in kinds():
            release(kind.items().filter(worker=worker, state=ItemState.PENDING))
        CostReservation.objects.filter(worker=worker).delete()


def release(items: QuerySet[Item], **changes: object) -> None:
    """Release items in good order: the attempt does not count."""
    items.update(worker=None, attempts=F("attempts") - 1, **changes)


class Observer:
    """Finds dead workers.

    One whose process is gone from this machine is dead at once. Any other is dead when its
    heartbeat has not changed while this observer looked for the length of a lease, by the
    observer's own clock: nothing follows from how a time of another clock compares with it. After
    an outage of the database or a sleep of the machine all are silent for a moment, so that
    looking begins anew.

    Args:
        monotonic: Seconds of a clock that nobody sets.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self.well_since = self.looked_at = monotonic()
        self.seen: dict[int, tuple[datetime, float]] = {}

    @property
    def is_trusted(self) -> bool:
        return self.monotonic() > self.well_since + LEASE_S

    def reap(self) -> int:
        """Free the items of dead workers. Return the number of workers found dead."""
        began_at = self.monotonic()
        if began_at > self.looked_at + LEASE_S / 2:
            self._look_anew()
        try:
            dead = gone_workers() + self._silent_workers(began_at)
            return self._free(dead, began_at) if dead else 0
        except Exception:
            self._look_anew()
            raise
        finally:
            self.looked_at = self.monotonic()
            if self.looked_at > began_at + BEAT_S:
                self._look_anew()

    def _look_anew(self) -> None:
        self.well_since = self.monotonic()
        self.seen.clear()

    def _silent_workers(self, now: float) -> list[Worker]:
        rows = Worker.objects.filter(stopped_at=None)
        seen = {row.pk: (row.beat_at, now) for row in rows}
        for pk, (beat_at, since) in self.seen.items():
            if pk in seen and seen[pk][0] == beat_at:
                seen[pk] = beat_at, since
        self.seen = seen
        return [row for row in rows if now > seen[row.pk][1] + LEASE_S]

    @transaction.atomic
    def _free(self, dead: list[Worker], began_at: float) -> int:
        has_waited = self.monotonic() > began_at + BEAT_S  # for a lock, as the workers' beats do
        return 0 if has_waited else free(dead)


def gone_workers() -> list[Worker]:
    """Return the workers that ran beside this process and have ended."""
    running = Worker.objects.filter(stopped_at=None)
    return [row for row in running if process_identity.has_ended(row.process)]


@transaction.atomic
def free(dead: Sequence[Worker]) -> int:
    """Free the items of workers and mark them as stopped; return how many were not yet.

    One that has beaten since its row was read lives: it keeps everything. Its next beat waits for
    this, so that it then learns what it has lost.
    """
    beats = {row.pk: row.beat_at for row in dead}
    rows = Worker.objects.select_for_update(no_key=True).filter(pk__in=beats, stopped_at=None)
    silent = [row.pk for row in rows.order_by("pk") if row.beat_at == beats[row.pk]]
    for kind in kinds():
        kind.items().filter(state=ItemState.PENDING, worker__in=silent).update(worker=None)
    return Worker.objects.filter(pk__in=silent).update(stopped_at=clock.now())


def waiting_batches() -> Iterator[Batch]:
    """Yield live batches with an item to do now, or that only need to be marked as done."""
    now = clock.now()
    for kind in kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE).order_by("pk"):
            if kind.due(batch, now).exists() or not kind.remaining(batch).exists():
                yield batch


def is_work_waiting() -> bool:
    return next(waiting_batches(), None) is not None


class Claim(NamedTuple):
    """Leased items, none if there was nothing to do.

    `is_suspect`: a single item that must be done alone in its process. `is_ending`: hardly any are
    left that nobody has leased.
    """

    item_ids: list[int]
    is_suspect: bool = False
    is_ending: bool = True


def claim(
    kind: AnyKind, batch_id: int, worker: Worker, most: int, *, alone: bool, last: int = 0
) -> Claim:
    """Lease up to `most` items of a live batch. It is ending when at most `last` are left to lease.

    Args:
        alone: The process holds nothing else, and may claim a suspect: an item that was claimed
            twice without an orderly end. If its worker dies once more, it ends in an error
            (`evalhub.llm.retry`).
    """
    with transaction.atomic():
        batch = kind.batches().filter(pk=batch_id, state=BatchState.LIVE).first()
        if batch is None:
            return Claim([])
        now = clock.now()
        waiting = kind.due(batch, now).order_by("pk")
        claimed = Claim(_lock(waiting.filter(attempts__lt=CLAIMS_TOGETHER), most))
        if not claimed.item_ids and alone:
            _give_up(kind, waiting.filter(attempts__gt=CLAIMS_TOGETHER))
            suspects = _lock(waiting.filter(attempts=CLAIMS_TOGETHER), 1)
            claimed = Claim(suspects, is_suspect=bool(suspects))
        items = kind.items().filter(pk__in=claimed.item_ids)
        items.update(worker=worker, attempts=F("attempts") + 1, claimed_at=now)
        if claimed.item_ids and batch.started_at is None:
            kind.batches().filter(pk=batch_id, started_at=None).update(started_at=now)
        return claimed._replace(is_ending=not waiting[last : last + 1].exists())


def _lock(items: QuerySet[Item], most: int) -> list[int]:
    # SQLite has no row locks: there the IMMEDIATE transaction does the same.
    rows = items.select_for_update(skip_locked=True, of=("self",))
    return [item.pk for item in rows.only("pk")[:most]]


def _give_up(kind: AnyKind, items: QuerySet[Item]) -> None:
    ids = _lock(items, 100)
    if not ids:
        return
    kind.items().filter(pk__in=ids).update(
        state=ItemState.ERROR,
        error_kind="worker_died",
        error_message="The worker process died three times on this item, the last time with no "
        "other work. Check the worker's log before you retry.",
    )
    kind.on_error(ids)
