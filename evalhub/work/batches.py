"""The worker loop's transactions. Each but `claim` is safe to repeat."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from evalhub.llm.endpoint import Endpoint
from evalhub.work import clock, leases
from evalhub.work.kinds import AnyKind, kinds
from evalhub.work.limits.budget import Spend
from evalhub.work.models import BatchState, ItemState, Worker

log = logging.getLogger(__name__)

Key = tuple[AnyKind, int]


class Live(NamedTuple):
    """A live batch, the endpoints that its items call, and its spend."""

    batch: Any
    endpoints: list[Endpoint]
    spend: Spend


def read_live() -> dict[Key, Live]:
    """Return every live batch. A batch that cannot be read fails, without affecting the others."""
    found = {}
    for kind in _live_kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE):
            try:
                found[kind, batch.pk] = Live(batch, kind.endpoints(batch), kind.spend(batch))
            except DatabaseError:
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", batch)
                stop_batch(kind, batch.pk, BatchState.FAILED, internal(error))
    return found


def _live_kinds() -> list[AnyKind]:
    """Return the kinds with a live batch: mostly one or two of them."""
    with connection.cursor() as cursor:
        cursor.execute(_live_kinds_sql(), [BatchState.LIVE.value] * len(kinds()))
        return [kinds()[number] for (number,) in sorted(cursor.fetchall())]


@cache
def _live_kinds_sql() -> str:
    tables = (connection.ops.quote_name(kind.batch_model._meta.db_table) for kind in kinds())
    return " UNION ALL ".join(
        f"SELECT {number} WHERE EXISTS (SELECT 1 FROM {table} WHERE state = %s)"
        for number, table in enumerate(tables)
    )


def internal(error: Exception) -> str:
    """Describe an error in EvalHub itself to a person."""
    return f"Internal error in EvalHub: {error!r}. See the worker's log for details."


def is_cancelled(kind: AnyKind, batch_id: int) -> bool:
    """Return True if calls in flight must end too. A deleted batch counts as cancelled."""
    state = kind.batches().filter(pk=batch_id).values_list("state", flat=True).first()
    return state in (None, BatchState.CANCELLED)


def claim(
    kind: AnyKind, batch_id: int, worker: Worker, most: int, alone: bool, last: int
) -> leases.Claim:
    """Lease items of a live batch (`leases.claim`). After an error: `leases.reconcile`."""
    return leases.claim(kind, batch_id, worker, most, alone=alone, last=last)


def give_back(kind: AnyKind, item_ids: Sequence[int], worker: Worker, after_s: float = 0.0) -> None:
    """Release items in good order, to be claimed again after `after_s` seconds."""
    mine = kind.items().filter(pk__in=item_ids, worker=worker, state=ItemState.PENDING)
    later = {"next_try_at": clock.now() + timedelta(seconds=after_s)} if after_s else {}
    leases.release(mine, **later)


def fail_item(kind: AnyKind, item_id: int, worker: Worker, message: str) -> None:
    """End an item with an internal error. It can be retried."""
    with transaction.atomic():
        mine = kind.items().filter(pk=item_id, worker=worker, state=ItemState.PENDING)
        failed = mine.update(
            state=ItemState.ERROR, error_kind="internal", error_message=message, worker=None
        )
        if failed:
            kind.on_error([item_id])


def stop_batch(kind: AnyKind, batch_id: int, state: BatchState, reason: str) -> None:
    """Set a live batch to failed or paused."""
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    live.update(state=state, reason=reason)


def finish_if_done(kind: AnyKind, batch_id: int) -> None:
    """Mark a batch as done when it has no unfinished items, as failed if none can be done.

    This is checked again under the row's lock: a person may be reopening items just now.
    """
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    if (batch := live.first()) is None:
        return
    if kind.remaining(batch).exists() and not kind.stop_reason(batch):
        return
    with transaction.atomic():
        batch = live.select_for_update(of=("self",)).first()
        if batch is None:
            return
        if kind.remaining(batch).exists():
            if reason := kind.stop_reason(batch):
                live.update(state=BatchState.FAILED, reason=reason)
            return
        live.update(state=BatchState.DONE, reason="", finished_at=clock.now())
        kind.finish(batch)


def is_anything_left() -> bool:
    """Return True if a live batch has pending items, leased or waiting."""
    return any(
        kind.claimable(batch).filter(state=ItemState.PENDING).exists()
        for kind in kinds()
        for batch in kind.batches().filter(state=BatchState.LIVE)
    )
