"""A batch in a user's hands: its progress; pause, cancel, resume, retry. Saved items are kept."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evalhub.refusals import NotPossible
from evalhub.work import progress
from evalhub.work.kinds import kinds
from evalhub.work.models import Batch, BatchState, ItemState


@dataclass(frozen=True)
class Progress:
    """A batch with the number of its items in each state, and of those that it will have."""

    batch: Batch
    counts: dict[str, int]
    total: int

    @property
    def ended(self) -> int:
        return self.counts[ItemState.DONE] + self.counts[ItemState.ERROR]

    @property
    def percent(self) -> float:
        if not self.total:
            return 100.0 if self.batch.state == BatchState.DONE else 0.0
        return 100 * self.ended / self.total

    @property
    def is_stopped(self) -> bool:
        return self.batch.state in (BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED)

    @property
    def may_be_cancelled(self) -> bool:
        return self.batch.state not in (BatchState.CANCELLED, BatchState.DONE)


def progress_of(batch: Batch, *, expected: int = 0) -> Progress:
    """Count the items; `expected` are those of a batch that adds some as it goes, until it ends."""
    counts = progress.counts(items_of(batch))
    now = sum(counts.values())
    return Progress(batch, counts, now if batch.state == BatchState.DONE else max(expected, now))


def items_of(batch: Batch) -> QuerySet[Any]:
    """Return the items of a batch, by its kind of work."""
    return next(kind for kind in kinds() if kind.batch_model is type(batch)).items_of(batch)


def pause(batch: Batch) -> None:
    """Start no more calls; those in flight end and are saved.

    Raises:
        NotPossible: It is not running.
    """
    progress.pause(batch, reason="Paused by a user.")


def cancel(batch: Batch) -> None:
    """Stop at once; the batch can be resumed.

    Raises:
        NotPossible: It has already ended.
    """
    progress.cancel(batch, items_of(batch), reason="Cancelled by a user.")


@transaction.atomic
def resume(batch: Batch, *, cost_limit_usd: Decimal | None = None) -> None:
    """Continue with the missing items; a limit of None keeps the current one.

    Raises:
        NotPossible: It is not stopped.
    """
    if cost_limit_usd is not None:
        type(batch)._default_manager.filter(pk=batch.pk).update(cost_limit_usd=cost_limit_usd)
    progress.resume(batch, items_of(batch))


def retry_errors(batch: Batch) -> int:
    """Retry exactly the failed items, and return their number.

    Raises:
        NotPossible: There are none.
    """
    count = progress.retry_errors(batch, items_of(batch))
    if not count:
        raise NotPossible(f"Nothing to retry: {batch.work_name} has no errors.")
    return count
