"""Background work that asks judges: each item is a missing verdict."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from evalhub.models import ItemState
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.kinds import BatchT, Kind, Save
from runs.judging.ask_judge import JudgeReply
from runs.models.verdict_item import VerdictItem

VerdictT = TypeVar("VerdictT", bound=VerdictItem)
REPLY_FIELDS = (
    *("state", "worker", "next_try_at", "justification"),
    *("was_repaired", "error_kind", "error_message", "call"),
)


@dataclass
class VerdictRequest:
    """A missing verdict. `sealed`: the sealed tests whose text its calls carry."""

    item_id: int
    ask: Callable[[ModelCaller], Awaitable[JudgeReply[Any]]]
    sealed: Sequence[int] = ()


class VerdictKind(Kind[BatchT, VerdictT, VerdictRequest]):
    """Work that asks a judge about each of its items, and saves the verdict or why there is none.

    `value_fields` are the fields of an item that hold its verdict; without one, their defaults.
    `about` says in the navigation what its batches are for; "" where they have their own place.
    """

    about = ""

    value_fields: tuple[str, ...] = ("option", "value")

    @abstractmethod
    def prepare(self, batch: BatchT, item_ids: Sequence[int]) -> list[VerdictRequest]: ...

    def values_of(self, item: VerdictT, verdict: Any) -> tuple[Any, ...]:
        """Return the values of `value_fields`."""
        return self._of(verdict)

    def _of(self, source: Any) -> tuple[Any, ...]:
        return tuple(getattr(source, name) for name in self.value_fields)

    def sealed_tests(self, job: VerdictRequest) -> Sequence[int]:
        return job.sealed

    async def perform(self, job: VerdictRequest, caller: ModelCaller) -> None:
        reply = await job.ask(caller)
        await caller.save(reply, *reply.calls)

    def store(self, saves: list[Save]) -> None:
        replies = {one.item_id: one.content for one in saves if isinstance(one.content, JudgeReply)}
        items = list(self.items().filter(pk__in=replies).order_by("pk"))
        for item in items:
            self._fill(item, replies[item.pk])
        self.items().bulk_update(items, [*REPLY_FIELDS, *self.value_fields])

    def _fill(self, item: VerdictT, reply: JudgeReply[Any]) -> None:
        verdict = reply.verdict
        item.state = ItemState.ERROR if verdict is None else ItemState.DONE
        item.worker = item.next_try_at = None
        item.justification = verdict.justification if verdict else ""
        item.was_repaired = reply.was_repaired
        item.error_kind, item.error_message = reply.failure, reply.message
        item.call = reply.call
        values = self.values_of(item, verdict) if verdict else self._of(self.item_model())
        for name, value in zip(self.value_fields, values, strict=True):
            setattr(item, name, value)
