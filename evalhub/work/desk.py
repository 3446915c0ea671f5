"""What a piece of work is given to do its job: calls that keep to the limits, and saving."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.utils import timezone

from evalhub.llm import gateway
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.models import Call, CallRole
from evalhub.llm.retry import delay_s
from evalhub.work.kinds import Kind, Purse, Save
from evalhub.work.pace import Lanes, cut
from evalhub.work.saver import Database, Saver

log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 30.0
"""A longer wait before the next try gives the item back instead of keeping it."""

CHARS_PER_TOKEN = 4
USUAL_ANSWER_TOKENS = 1000


class GivenBack(Exception):
    """The item is to be returned in good order, its work done later."""

    def __init__(self, *, after_s: float = 0.0) -> None:
        super().__init__(f"given back for {after_s:.0f} s")
        self.after_s = after_s


class BatchFailed(Exception):
    """Every other item of the batch would fail in the same way; the message says why."""


LOOKS_TO_SETTLE = 2
"""Readings of the purse until a call's cost is surely among them: it is saved a moment later."""


@dataclass
class Gate:
    """Whether a batch's work may go on, and what of its money is bound or not yet booked.

    `refused_usd` is the estimate of a call that could have passed the limit; None: there was none.
    """

    is_open: bool = True
    purse: Purse = field(default_factory=lambda: Purse(0.0, None))
    bound_usd: float = 0.0
    settling: list[tuple[float, int]] = field(default_factory=list)
    refused_usd: float | None = None

    def affords(self, estimate_usd: float) -> bool:
        if self.purse.limit is None:
            return True
        settling = sum(cost for cost, _ in self.settling)
        spent = self.purse.spent + settling + self.bound_usd
        return spent + estimate_usd <= self.purse.limit + 1e-9

    def look(self, purse: Purse) -> None:
        """Take over what the database says is spent."""
        self.purse = purse
        self.settling = [(cost, looks - 1) for cost, looks in self.settling if looks > 1]

    def look_again(self, purse: Purse) -> bool:
        """The same when all is saved; whether the call that was refused can be paid after all."""
        self.purse, self.settling = purse, []
        if self.refused_usd is not None and self.affords(self.refused_usd):
            self.refused_usd = None
        return self.refused_usd is None

    @contextmanager
    def bind(self, estimate_usd: float) -> Iterator[None]:
        """Keep so much back while a call is in flight.

        Raises:
            GivenBack: The batch was paused, or its cost limit could be passed.
        """
        if not self.is_open:
            raise GivenBack
        if not self.affords(estimate_usd):
            self.refused_usd = estimate_usd
            raise GivenBack
        self.bound_usd += estimate_usd
        try:
            yield
        finally:
            self.bound_usd -= estimate_usd

    def settle(self, completion: Completion | None) -> None:
        """A call has ended with this cost."""
        if completion is not None and completion.cost_usd:
            self.settling.append((float(completion.cost_usd), LOOKS_TO_SETTLE))


@dataclass
class Reply:
    """A completion and the record of its call, which is saved with whatever was made of it."""

    completion: Completion
    call: Call


@dataclass
class Desk:
    """One item's access to the world: its batch's gate, the models' lanes, and the saver."""

    kind: Kind
    batch: Any
    item_id: int
    gate: Gate
    lanes: Lanes
    saver: Saver
    database: Database
    random: Random

    async def call(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        params: dict[str, Any],
        *,
        role: CallRole,
        schema: dict[str, Any] | None = None,
        tools: Sequence[dict[str, Any]] = (),
    ) -> Reply:
        """Ask a model, trying again where that can help. Failed tries are recorded too.

        Raises:
            CallError: It failed for good; the failed call is recorded.
            BatchFailed: Every call to this endpoint would fail so, as with a wrong key.
            GivenBack: Stop and give the item back.
        """
        asked = dict(params, tools=list(tools)) if tools else params
        estimate = estimate_usd(endpoint, messages, asked)
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self.lanes.slot(endpoint):
                    with self.gate.bind(estimate):
                        return await self._once(endpoint, messages, asked, role, schema, attempt)
            except CallError as error:
                await self._after(error, endpoint, attempt)

    async def _once(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        params: dict[str, Any],
        role: CallRole,
        schema: dict[str, Any] | None,
        attempt: int,
    ) -> Reply:
        call = Call(
            language_model_id=endpoint.language_model_id,
            role=role,
            batch=self.batch.work_key,
            item_id=self.item_id,
            request_digest=gateway.request_digest(endpoint, messages, params, schema),
            attempt=attempt,
            started_at=timezone.now(),
        )
        try:
            completion = await gateway.complete(endpoint, messages, params, schema)
        except CallError as error:
            self.gate.settle(error.completion)
            fill(call, error.completion)
            call.error_kind, call.error_message = error.kind.value, error.message
            self._record(call)
            raise
        self.gate.settle(completion)
        fill(call, completion)
        return Reply(completion, call)

    def _record(self, call: Call) -> None:
        self.saver.add(Save(self.kind, self.batch.pk, self.item_id, calls=[call]))

    async def _after(self, error: CallError, endpoint: Endpoint, attempt: int) -> None:
        """Wait for the next try, or say that there is none."""
        if error.is_fatal_for_run:
            raise BatchFailed(f"{endpoint.name}: {error.message}") from error
        if error.kind == CallErrorKind.RATE_LIMITED:
            await self.database(cut, endpoint.language_model_id, error.retry_after_s)
        wait = delay_s(attempt, error, self.random)
        if wait is None:
            raise error
        if wait > LONGEST_PAUSE_S:
            raise GivenBack(after_s=wait) from error
        await asyncio.sleep(wait)

    async def save(self, content: Any, *calls: Call) -> None:
        """Save what came of the item, together with the calls that it came from.

        Raises:
            saver.LeaseLost: The item belongs to another worker now.
        """
        await self.saver.save(self._save(content, calls))

    def save_later(self, content: Any, *calls: Call) -> "asyncio.Future[bool]":
        """The same without waiting; the future is False where the lease was lost."""
        return self.saver.add(self._save(content, calls))

    def _save(self, content: Any, calls: tuple[Call, ...]) -> Save:
        return Save(self.kind, self.batch.pk, self.item_id, content, list(calls))


def fill(call: Call, completion: Completion | None) -> None:
    """Put down what came back; None when nothing did."""
    if completion is None:
        return
    call.reply = completion.reply
    call.request_id = completion.request_id[:200]
    call.finish_reason = completion.finish_reason[:50]
    call.tokens_in, call.tokens_out = completion.tokens_in, completion.tokens_out
    call.cost_usd, call.latency_ms = completion.cost_usd, completion.latency_ms


def estimate_usd(
    endpoint: Endpoint, messages: Sequence[dict[str, Any]], params: dict[str, Any]
) -> float:
    """What a call may cost at most, roughly; 0 where prices are not known."""
    if endpoint.input_usd_per_mtok is None:
        return 0.0
    characters = sum(len(str(message.get("content") or "")) for message in messages)
    limit = (endpoint.params | params).get("max_tokens") or USUAL_ANSWER_TOKENS
    cost = endpoint.cost_usd(characters // CHARS_PER_TOKEN + 20, int(limit))
    return float(cost or 0)
