"""The interface of a kind of background work: its rows, and how an item is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import Call
from evalhub.work.calls.caller import ModelCaller, Saved
from evalhub.work.limits.budget import Spend
from evalhub.work.models import Batch, Item, ItemState


class Job(Protocol):
    """Everything that is needed to do one item."""

    item_id: int


BatchT = TypeVar("BatchT", bound=Batch)
ItemT = TypeVar("ItemT", bound=Item)
JobT = TypeVar("JobT", bound=Job)


@dataclass
class Save:
    """Content for an item, to be saved in a transaction shared with others.

    If the item's lease was lost meanwhile, only the calls are recorded: they were made and paid
    for. `content` is whatever the kind's `store` understands; None: only the calls. `after`: saves
    of the item, queued before; unless each of them is made, this one, without calls, is not either.
    """

    kind: AnyKind
    batch_id: int
    item_id: int
    content: Any = None
    calls: list[Call] = field(default_factory=list)
    after: Sequence[Saved] = ()


class Kind(ABC, Generic[BatchT, ItemT, JobT]):
    """A kind of background work. Claims, leases, progress and cancelling are the same for all.

    `batch_field` is the item's foreign key to its batch.
    """

    batch_model: type[BatchT]
    item_model: type[ItemT]
    batch_field: str

    def __str__(self) -> str:
        return str(self.item_model._meta.verbose_name)

    def batches(self) -> QuerySet[BatchT]:
        return self.batch_model._default_manager.all()

    def items(self) -> QuerySet[ItemT]:
        return self.item_model._default_manager.all()

    def items_of(self, batch: BatchT) -> QuerySet[ItemT]:
        return self.items().filter(**{self.batch_field: batch})

    def claimable(self, batch: BatchT) -> QuerySet[ItemT]:
        """Return the batch's items that can be done once they are pending and free."""
        return self.items_of(batch)

    def remaining(self, batch: BatchT) -> QuerySet[ItemT]:
        """Return the batch's unfinished items, claimable or not."""
        return self.items_of(batch).filter(state=ItemState.PENDING)

    def due(self, batch: BatchT, now: datetime) -> QuerySet[ItemT]:
        """Return the claimable items that are pending, free and not waiting for a retry."""
        is_due = Q(next_try_at=None) | Q(next_try_at__lte=now)
        return self.claimable(batch).filter(is_due, state=ItemState.PENDING, worker=None)

    @abstractmethod
    def endpoints(self, batch: BatchT) -> list[Endpoint]:
        """Return the endpoints of an item's calls, one for each call that it makes at once."""

    def spend(self, batch: BatchT) -> Spend:
        """Return the cost and limit of this batch, and of those that share its limit."""
        limit = batch.cost_limit_usd
        spent = self.batches().values_list("spent_usd", flat=True).get(pk=batch.pk)
        return Spend(float(spent), None if limit is None else float(limit), batch.work_key)

    @abstractmethod
    def prepare(self, batch: BatchT, item_ids: Sequence[int]) -> list[JobT]:
        """Read all that is needed to do these items: one job for each, in any order."""

    @abstractmethod
    def sealed_tests(self, job: JobT) -> Sequence[int]:
        """Return the ids of sealed tests whose text the calls carry, to record their exposure."""

    @abstractmethod
    async def perform(self, job: JobT, caller: ModelCaller) -> None:
        """Do one item: make calls with `caller`, and let it save the outcome."""

    @abstractmethod
    def store(self, saves: list[Save]) -> None:
        """Save the contents, inside a transaction, in few statements for all of them."""

    def stop_reason(self, batch: BatchT) -> str:
        """Say why nothing of what remains can be done, whoever waits; "" if it may be."""
        return ""

    def on_error(self, item_ids: Sequence[int]) -> None:
        """React to items ending in an error, in the same transaction."""

    def finish(self, batch: BatchT) -> None:
        """React, once, to the batch being done, in the same transaction."""


AnyKind = Kind[Any, Any, Any]


@cache
def kinds() -> tuple[AnyKind, ...]:
    """Return every kind of work, from the dotted paths in the setting EVALHUB_WORK."""
    return tuple(import_string(path)() for path in settings.EVALHUB_WORK)
