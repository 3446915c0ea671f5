"""What a worker's loop asks of the database: each a transaction that does no harm done twice."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import DatabaseError, transaction

from evalhub.llm.endpoint import Endpoint
from evalhub.work import clock, leases
from evalhub.work.kinds import Kind, Spend, kinds
from evalhub.work.models import BatchState, ItemState, Worker

log = logging.getLogger(__name__)

Key = tuple[Kind, int]


class Live(NamedTuple):
    """A live batch, the endpoints that an item of it calls, and its purse."""

    batch: Any
    endpoints: list[Endpoint]
    spend: Spend


def read_live() -> dict[Key, Live]:
    """Every live batch. One that cannot be read fails, and keeps no other from being worked on."""
    found = {}
    for kind in kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE):
            try:
                found[kind, batch.pk] = Live(batch, kind.endpoints(batch), kind.spend(batch))
            except DatabaseError:
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", batch)
                fail_batch(kind, batch.pk, internal(error))
    return found


def internal(error: Exception) -> str:
    """What a person is told of an error that is our own."""
    return f"An error of EvalHub itself; the worker's log says more: {error!r}"


def is_cancelled(kind: Kind, batch_id: int) -> bool:
    """Whether what is in flight is to be ended too. A batch that was deleted is cancelled."""
    state = kind.batches().filter(pk=batch_id).values_list("state", flat=True).first()
    return state in (None, BatchState.CANCELLED)


def claim(kind: Kind, batch_id: int, worker: Worker, most: int, alone: bool) -> leases.Claim:
    claimed = leases.claim(kind, batch_id, worker, most, alone=alone)
    if claimed.item_ids:
        kind.batches().filter(pk=batch_id, started_at=None).update(started_at=clock.now())
    return claimed


def give_back(kind: Kind, item_ids: Sequence[int], worker: Worker, after_s: float = 0.0) -> None:
    """Return items in good order, to be claimed again after so many seconds."""
    mine = kind.items().filter(pk__in=item_ids, worker=worker, state=ItemState.PENDING)
    later = {"next_try_at": clock.now() + timedelta(seconds=after_s)} if after_s else {}
    leases.release(mine, **later)


def fail_item(kind: Kind, item_id: int, worker: Worker, message: str) -> None:
    """An error of our own: it is shown as what it is, and can be retried."""
    with transaction.atomic():
        mine = kind.items().filter(pk=item_id, worker=worker, state=ItemState.PENDING)
        failed = mine.update(
            state=ItemState.ERROR, error_kind="internal", error_message=message, worker=None
        )
        if failed:
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
    """Mark a batch as done when nothing of it is left.

    That is asked again under the row's lock: a person may be reopening items just now.
    """
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    if (batch := live.first()) is None or kind.remaining(batch).exists():
        return
    with transaction.atomic():
        batch = live.select_for_update(of=("self",)).first()
        if batch is None or kind.remaining(batch).exists():
            return
        live.update(state=BatchState.DONE, reason="", finished_at=clock.now())
        kind.finish(batch)


def is_anything_left() -> bool:
    """Whether a live batch has items that may be done some time, be they leased or waiting."""
    return any(
        kind.claimable(batch).filter(state=ItemState.PENDING).exists()
        for kind in kinds()
        for batch in kind.batches().filter(state=BatchState.LIVE)
    )
