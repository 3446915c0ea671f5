from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Count, QuerySet

from evalhub.refusals import NotPossible
from evalhub.work.models import Batch, BatchState, Item, ItemState
from evalhub.work.processes.queue import request_worker

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 3
"""Tries of a person's act that met a deadlock."""


def act(function: Callable[P, T]) -> Callable[P, T]:
    """Make a person's act one transaction, and try it again after a deadlock with the workers."""

    @wraps(function)
    def acting(*args: P.args, **kwargs: P.kwargs) -> T:
        for tries_left in reversed(range(TRIES)):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                state = getattr(error.__cause__, "sqlstate", None) or ""
                is_deadlock = state.startswith("40") and not connection.in_atomic_block
                if not is_deadlock or not tries_left:
                    raise
        raise AssertionError("a try returns or raises")

    return acting


def counts(items: QuerySet[Item]) -> dict[str, int]:
    """Count items by state, including states with none."""
    found = dict(items.order_by().values_list("state").annotate(Count("pk")))
    return {state: found.get(state, 0) for state in ItemState.values}


def pause(batch: Batch, *, reason: str = "") -> None:
    """Start no more calls. Calls in flight end and are saved."""
    _move(batch, [BatchState.LIVE], BatchState.PAUSED, reason)


@act
def cancel(batch: Batch, items: QuerySet[Item], *, reason: str = "") -> None:
    """Stop at once. Saved items stay; the others are marked as cancelled."""
    _move(
        batch,
        [BatchState.LIVE, BatchState.PAUSED, BatchState.FAILED],
        BatchState.CANCELLED,
        reason,
    )
    pending = items.filter(state=ItemState.PENDING)
    lock_items(pending)
    pending.update(state=ItemState.CANCELLED, worker=None)


@act
def resume(batch: Batch, items: QuerySet[Item]) -> None:
    """Continue with unfinished items after a pause, a cancellation, or a failure."""
    _move(batch, [BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED], BatchState.LIVE, "")
    lock_items(items.filter(state__in=[ItemState.CANCELLED, ItemState.PENDING]))
    items.filter(state=ItemState.CANCELLED).update(state=ItemState.PENDING, attempts=0)
    items.filter(state=ItemState.PENDING, worker=None).update(next_try_at=None)
    request_worker()


@act
def retry_errors(batch: Batch, items: QuerySet[Item]) -> int:
    """Retry exactly the items that ended in an error. Return their number."""
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


def lock_items(items: QuerySet[Item]) -> None:
    """Lock items in the order in which workers lock them."""
    rows = items.select_for_update(of=("self",)).order_by("pk")
    list(rows.values_list("pk", flat=True))


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
