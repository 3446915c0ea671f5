"""How far a batch has come, and what a person may do to it as a whole."""

from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from evalhub.work.models import Batch, BatchState, Item, ItemState
from evalhub.work.queue import request_worker


class NotPossible(ValueError):
    """The batch is in a state in which this cannot be done; the message says which."""


def counts(items: QuerySet[Item]) -> dict[str, int]:
    """Items by state; every state is there, be it 0."""
    found = dict(items.order_by().values_list("state").annotate(Count("pk")))
    return {state: found.get(state, 0) for state in ItemState.values}


def pause(batch: Batch, *, reason: str = "") -> None:
    """Start no more calls. Those in flight end and are saved."""
    _move(batch, [BatchState.LIVE], BatchState.PAUSED, reason)


def cancel(batch: Batch, items: QuerySet[Item], *, reason: str = "") -> None:
    """Stop at once. What was saved stays; what was not done is marked as cancelled."""
    with transaction.atomic():
        _move(
            batch,
            [BatchState.LIVE, BatchState.PAUSED, BatchState.FAILED],
            BatchState.CANCELLED,
            reason,
        )
        items.filter(state=ItemState.PENDING).update(state=ItemState.CANCELLED, worker=None)


def resume(batch: Batch, items: QuerySet[Item]) -> None:
    """Go on with what was not done: after a pause, a cancel, or a failure that was mended."""
    with transaction.atomic():
        _move(
            batch, [BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED], BatchState.LIVE, ""
        )
        items.filter(state=ItemState.CANCELLED).update(state=ItemState.PENDING, attempts=0)
        items.filter(state=ItemState.PENDING, worker=None).update(next_try_at=None)
        request_worker()


def retry_errors(batch: Batch, items: QuerySet[Item]) -> int:
    """Do again exactly what ended in an error. Returns how many that are."""
    with transaction.atomic():
        lock(batch)
        errors = items.filter(state=ItemState.ERROR)
        count = errors.update(
            state=ItemState.PENDING, attempts=0, error_kind="", error_message="", next_try_at=None
        )
        if count:
            reopen(batch)
        return count


def lock(batch: Batch) -> None:
    """Keep others from changing the batch, and workers from marking it as done, until the end.

    Batches are locked before their items, here and in the worker, so that none waits for another.
    """
    rows: Any = type(batch)._default_manager.select_for_update(of=("self",))
    rows.get(pk=batch.pk)


def reopen(batch: Batch) -> None:
    """Set a batch that had ended to work again. One that a person or its limit paused stays so."""
    rows: Any = type(batch)._default_manager.filter(pk=batch.pk).exclude(state=BatchState.PAUSED)
    rows.update(state=BatchState.LIVE, reason="", finished_at=None)
    request_worker()


def _move(batch: Batch, before: list[BatchState], after: BatchState, reason: str) -> None:
    rows: Any = type(batch)._default_manager.filter(pk=batch.pk, state__in=before)
    if not rows.update(state=after, reason=reason):
        batch.refresh_from_db(fields=["state"])
        raise NotPossible(f"{batch} is {batch.get_state_display()}: it cannot be {after} now.")
