from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from evalhub.work.models import Batch, BatchState, Item, ItemState
from evalhub.work.queue import request_worker


class NotPossible(ValueError):
    """The action is not available in the batch's state; the message says why."""


def counts(items: QuerySet[Item]) -> dict[str, int]:
    """Count items by state, including states with none."""
    found = dict(items.order_by().values_list("state").annotate(Count("pk")))
    return {state: found.get(state, 0) for state in ItemState.values}


def pause(batch: Batch, *, reason: str = "") -> None:
    """Start no more calls. Calls in flight end and are saved."""
    _move(batch, [BatchState.LIVE], BatchState.PAUSED, reason)


def cancel(batch: Batch, items: QuerySet[Item], *, reason: str = "") -> None:
    """Stop at once. Saved items stay; the others are marked as cancelled."""
    with transaction.atomic():
        _move(
            batch,
            [BatchState.LIVE, BatchState.PAUSED, BatchState.FAILED],
            BatchState.CANCELLED,
            reason,
        )
        items.filter(state=ItemState.PENDING).update(state=ItemState.CANCELLED, worker=None)


def resume(batch: Batch, items: QuerySet[Item]) -> None:
    """Continue with unfinished items after a pause, a cancellation, or a failure."""
    with transaction.atomic():
        _move(
            batch, [BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED], BatchState.LIVE, ""
        )
        items.filter(state=ItemState.CANCELLED).update(state=ItemState.PENDING, attempts=0)
        items.filter(state=ItemState.PENDING, worker=None).update(next_try_at=None)
        request_worker()


def retry_errors(batch: Batch, items: QuerySet[Item]) -> int:
    """Retry exactly the items that ended in an error. Return their number."""
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
    """Lock the batch until the end of the transaction, so that no worker marks it as done.

    Batches are locked before their items, here and in the worker, so that no deadlock arises.
    """
    rows: Any = type(batch)._default_manager.select_for_update(of=("self",))
    rows.get(pk=batch.pk)


def reopen(batch: Batch) -> None:
    """Set an ended batch to work again. A paused batch stays paused."""
    rows: Any = type(batch)._default_manager.filter(pk=batch.pk).exclude(state=BatchState.PAUSED)
    rows.update(state=BatchState.LIVE, reason="", finished_at=None)
    request_worker()


def _move(batch: Batch, before: list[BatchState], after: BatchState, reason: str) -> None:
    rows: Any = type(batch)._default_manager.filter(pk=batch.pk, state__in=before)
    if not rows.update(state=after, reason=reason):
        batch.refresh_from_db(fields=["state"])
        raise NotPossible(f"{batch} is {batch.get_state_display()}: it cannot be {after} now.")
