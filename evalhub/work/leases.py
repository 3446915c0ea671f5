"""Leases: a worker's id on an item. One heartbeat renews all of a worker's leases."""

import os
import socket
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet

from evalhub.work import clock
from evalhub.work.kinds import Kind, kinds
from evalhub.work.models import LEASE_S, BatchState, Item, ItemState, Worker

BEAT_S = LEASE_S / 4
SUSPECT_ATTEMPTS = 2
"""An item claimed so often without an orderly end is claimed alone in its process."""


def register() -> Worker:
    """This process, as a worker."""
    now = clock.now()
    return Worker.objects.create(name=process_name(os.getpid()), started_at=now, beat_at=now)


def process_name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


def workers_alive() -> int:
    """Worker processes that were heard of within the time of a lease."""
    return Worker.objects.filter(alive()).count()


def alive() -> Q:
    """What is true of the worker processes that are at work, as far as is known."""
    return Q(stopped_at=None, beat_at__gt=clock.ago(LEASE_S))


def beat(worker: Worker, at: datetime, uses: dict[str, Any]) -> None:
    """Renew every lease that the worker holds.

    Args:
        at: The database's time when the worker last read what the others tell: who sees it knows
            that what happened before is known to this worker.
        uses: What it tells the others (`RateLimiters.uses`).
    """
    Worker.objects.filter(pk=worker.pk).update(beat_at=at, models_in_use=uses, stopped_at=None)


def sign_off(worker: Worker, uses: dict[str, Any]) -> None:
    """Give back what the worker still holds, with the attempts that it did not use."""
    with transaction.atomic():
        for kind in kinds():
            live_batch = kind.items().filter(worker=worker, state=ItemState.PENDING)
            live_batch.update(worker=None, attempts=F("attempts") - 1)
        now = clock.now()
        Worker.objects.filter(pk=worker.pk).update(stopped_at=now, beat_at=now, models_in_use=uses)


def release(items: QuerySet[Item], **changes: object) -> None:
    """Give back items in good order: the attempt does not count."""
    items.update(worker=None, attempts=F("attempts") - 1, **changes)


def reap(names: Iterable[str] = ()) -> int:
    """Free the items of dead workers: those not heard of for long, and those named.

    Args:
        names: Workers whose process is known to have died (`process_name`).

    Returns:
        How many workers were found dead.
    """
    standing = Worker.objects.filter(stopped_at=None)
    silent = standing.filter(beat_at__lte=clock.ago(LEASE_S)) | standing.filter(name__in=names)
    dead = list(silent.values_list("pk", flat=True))
    if not dead:
        return 0
    with transaction.atomic():
        for kind in kinds():
            kind.items().filter(state=ItemState.PENDING, worker__in=dead).update(worker=None)
        return Worker.objects.filter(pk__in=dead, stopped_at=None).update(stopped_at=clock.now())


def is_work_waiting() -> bool:
    """Whether a live batch has something that could be done now, if only to be marked as done."""
    now = clock.now()
    return any(
        kind.claimable(batch).claimable(now).exists() or not kind.remaining(batch).exists()
        for kind in kinds()
        for batch in kind.batches().filter(state=BatchState.LIVE)
    )


class Claim(NamedTuple):
    """Items that were leased. `is_suspect`: it is one, and nothing else may be done beside it."""

    item_ids: list[int]
    is_suspect: bool = False


def claim(kind: Kind, batch_id: int, worker: Worker, most: int, *, alone: bool) -> Claim:
    """Lease up to `most` items of a live batch.

    Args:
        alone: Whether the process holds nothing else. Only then is a suspect claimed: one that
            was claimed twice without an orderly end, and alone, so that work which kills its
            worker does not condemn its neighbours. Dying once more makes it an error.
    """
    with transaction.atomic():
        batch = kind.batches().filter(pk=batch_id, state=BatchState.LIVE).first()
        if batch is None:
            return Claim([])
        waiting = kind.claimable(batch).claimable(clock.now()).order_by("pk")
        claimed = Claim(_lock(waiting.filter(attempts__lt=SUSPECT_ATTEMPTS), most))
        if not claimed.item_ids and alone:
            _give_up(kind, waiting.filter(attempts__gt=SUSPECT_ATTEMPTS))
            suspects = _lock(waiting.filter(attempts=SUSPECT_ATTEMPTS), 1)
            claimed = Claim(suspects, is_suspect=bool(suspects))
        items = kind.items().filter(pk__in=claimed.item_ids)
        items.update(worker=worker, attempts=F("attempts") + 1)
    return claimed


def _lock(items: QuerySet[Item], most: int) -> list[int]:
    # SQLite has no row locks: there the IMMEDIATE transaction does the same.
    rows = items.select_for_update(skip_locked=True, of=("self",))
    return [item.pk for item in rows.only("pk")[:most]]


def _give_up(kind: Kind, items: QuerySet[Item]) -> None:
    ids = _lock(items, 100)
    if not ids:
        return
    kind.items().filter(pk__in=ids).update(
        state=ItemState.ERROR,
        error_kind="worker_died",
        error_message="The worker died three times while doing this, the last time with nothing "
        "else at hand. Look at the worker's log before you retry it.",
    )
    kind.on_error(ids)
