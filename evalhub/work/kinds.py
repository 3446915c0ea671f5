"""What a kind of background work is: which rows it does, and how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import Call
from evalhub.work.models import Batch, Item

if TYPE_CHECKING:
    from evalhub.work.caller import ModelCaller


@dataclass
class Save:
    """Something to be saved, in a transaction shared with others.

    `item_id` is the leased item: where the lease was lost meanwhile, only the calls are recorded,
    for they were made and paid for. `content` is what the kind's `store` understands.
    """

    kind: Kind
    batch_id: int
    item_id: int
    content: Any = None
    calls: list[Call] = field(default_factory=list)


class Kind(ABC):
    """One kind of background work. Claim, lease, progress and cancel are the same for all."""

    batch_model: type[Batch]
    item_model: type[Item]

    def batches(self) -> QuerySet[Any]:
        return self.batch_model._default_manager.all()

    def items(self) -> QuerySet[Any]:
        return self.item_model._default_manager.all()

    @abstractmethod
    def claimable(self, batch: Any) -> Any:
        """The batch's items that may be done once they are pending and free."""

    @abstractmethod
    def remaining(self, batch: Any) -> QuerySet[Any]:
        """The batch's items that are not at an end, be they claimable yet or not."""

    @abstractmethod
    def endpoints(self, batch: Any) -> list[Endpoint]:
        """The endpoints that one item calls, one for each call that it makes at once."""

    @abstractmethod
    def spend(self, batch: Any) -> Spend:
        """What may be spent, and what has been, by this batch and those that share its limit."""

    @abstractmethod
    def prepare(self, batch: Any, item_ids: Sequence[int]) -> list[Any]:
        """Read what is needed to do these items: one job for each, in any order.

        A job has `item_id`.
        """

    @abstractmethod
    def sealed_tests(self, job: Any) -> Sequence[int]:
        """Numbers of the sealed tests whose text calls for this job carry.

        That they are sent to an endpoint outside the trusted network is written down before.
        """

    @abstractmethod
    async def perform(self, job: Any, caller: ModelCaller) -> None:
        """Do one item: ask `caller` for calls, and give it what is to be saved."""

    @abstractmethod
    def store(self, saves: list[Save]) -> None:
        """Save the contents, inside a transaction, in few statements for all of them."""

    def on_error(self, item_ids: Sequence[int]) -> None:
        """Called in the transaction that ends these items in an error."""

    def finish(self, batch: Any) -> None:
        """Called once, in the transaction that marks the batch as done."""


@dataclass
class Spend:
    """Money of a batch, in US dollars. `limit` None: there is no limit.

    Batches whose purses have the same `key` spend from the same limit; "": only this one does.
    """

    spent: float
    limit: float | None
    key: str = ""


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of work, made from the dotted paths in the setting EVALHUB_WORK."""
    return tuple(import_string(path)() for path in settings.EVALHUB_WORK)
