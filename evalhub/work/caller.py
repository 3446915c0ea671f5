"""What a piece of work is given to do its job: calls that keep to the limits, and saving."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, TypeVar

from django.db import DatabaseError
from django.utils import timezone

from evalhub.access.exposures import Sendings
from evalhub.llm import gateway
from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.models import Call, CallRole
from evalhub.llm.retry import LONGEST_WAIT_S, delay_s
from evalhub.llm.token_estimates import token_limit, tokens_in
from evalhub.work import shared_rate
from evalhub.work.budget import Gate, GivenBack
from evalhub.work.kinds import Kind, Save
from evalhub.work.rate_limiter import RateLimiters
from evalhub.work.saver import Database, LeaseLost, Saver

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Completion)

LONGEST_PAUSE_S = 30.0
"""A longer wait before the next try gives the item back instead of keeping it."""

CANCELLED = "cancelled"
"""Error kind of a call that was ended before its reply had come. What it cost is not known."""

DEFAULT_ANSWER_TOKENS, EXTRA_TOKENS = 1000, 20
"""Estimates for a reply without a token limit, and for what a provider adds to each request."""


class BatchFailed(Exception):
    """Every other item of the batch would fail in the same way; the message says why."""


@dataclass
class CallReply:
    """A completion and the record of its call, which is saved with whatever was made of it."""

    completion: Completion
    call: Call


@dataclass(frozen=True)
class PendingCall(Generic[T]):
    """What is asked of an endpoint: `send` asks it once."""

    endpoint: Endpoint
    role: CallRole
    digest: str
    estimate_usd: float
    send: Callable[[], Awaitable[T]]


@dataclass
class ModelCaller:
    """One item's access to the world: its batch's gate, the models' lanes, and the saver.

    `sealed` are the sealed tests whose text its calls carry: that they leave the trusted network
    is written down in `sendings` before they do. `calls` are all that were made for the item at
    this desk, failed ones too.
    """

    kind: Kind
    batch: Any
    item_id: int
    gate: Gate
    limiters: RateLimiters
    saver: Saver
    database: Database
    random: Random
    sendings: Sendings
    sealed: Sequence[int] = ()
    calls: list[Call] = field(default_factory=list)

    async def call(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        params: dict[str, Any],
        *,
        role: CallRole,
        schema: dict[str, Any] | None = None,
        tools: Sequence[dict[str, Any]] = (),
    ) -> CallReply:
        """Ask a model, trying again where that can help. Failed tries are recorded too.

        Raises:
            CallError: It failed for good; the failed call is recorded.
            BatchFailed: Every call to this endpoint would fail so, as with a wrong key.
            GivenBack: Stop and give the item back.
        """
        sent = dict(params, tools=list(tools)) if tools else params
        pending = PendingCall(
            endpoint=endpoint,
            role=role,
            digest=gateway.request_digest(endpoint, messages, sent, schema),
            estimate_usd=estimate_usd(endpoint, messages, sent),
            send=lambda: gateway.complete(endpoint, messages, sent, schema),
        )
        return CallReply(*await self._answered(pending))

    async def embed(self, endpoint: Endpoint, texts: Sequence[str]) -> Embedded:
        """The vectors of texts, in their order, with one call of an embedding model.

        The model is one of the endpoints of the kind of work, as for every call. The call is
        recorded. Raises what `call` raises.
        """
        tokens = tokens_in(texts) + EXTRA_TOKENS
        pending = PendingCall(
            endpoint=endpoint,
            role=CallRole.EMBEDDING,
            digest=gateway.embedding_digest(endpoint, texts),
            estimate_usd=float(endpoint.cost_usd(tokens, 0) or 0),
            send=lambda: gateway.embed(endpoint, texts),
        )
        embedded, call = await self._answered(pending)
        self.record(call)
        return embedded

    async def _answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        """Ask until there is an answer, or another try cannot help."""
        await self.sendings.note(self.sealed, pending.endpoint, pending.role)
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self.limiters.slot(pending.endpoint, self.gate):
                    with self.gate.reserve(pending.estimate_usd):
                        return await self._once(pending, attempt)
            except CallError as error:
                await self._after(error, pending.endpoint, attempt)

    async def _once(self, pending: PendingCall[T], attempt: int) -> tuple[T, Call]:
        call = Call(
            language_model_id=pending.endpoint.language_model_id,
            role=pending.role,
            batch=self.batch.work_key,
            item_id=self.item_id,
            request_digest=pending.digest,
            attempt=attempt,
            started_at=timezone.now(),
        )
        self.calls.append(call)
        try:
            completion = await pending.send()
        except CallError as error:
            self._failed(call, error.kind.value, error.message, error.completion)
            raise
        except asyncio.CancelledError:
            self._failed(call, CANCELLED, "It was ended before its reply had come.", None)
            raise
        fill(call, completion)
        self.gate.budget.add_unsaved(cost_of(call))
        return completion, call

    def _failed(self, call: Call, kind: str, message: str, completion: Completion | None) -> None:
        fill(call, completion)
        call.error_kind, call.error_message = kind, message
        self.gate.budget.add_unsaved(cost_of(call))
        self.record(call)

    def record(self, call: Call) -> None:
        """Put down a call from which nothing is to be saved, or not yet."""
        self.save_later(None, call)

    async def _after(self, error: CallError, endpoint: Endpoint, attempt: int) -> None:
        """Wait for the next try, or say that there is none."""
        if error.is_fatal_for_run:
            self.gate.is_open = False
            raise BatchFailed(f"{endpoint.name}: {error.message}") from error
        wait = delay_s(attempt, error, self.random)
        if error.kind == CallErrorKind.RATE_LIMITED:
            await self._slow_down(endpoint, error)
            if wait is None and self._can_slow_down(endpoint, error):
                wait = 2 * LONGEST_PAUSE_S
        if wait is None:
            raise error
        if wait > LONGEST_PAUSE_S:
            raise GivenBack(after_s=wait) from error
        await asyncio.sleep(wait)

    async def _slow_down(self, endpoint: Endpoint, error: CallError) -> None:
        model = endpoint.language_model_id
        since = self.limiters.limiter(model).since
        arguments = (model, error.retry_after_s, since, self.saver.worker.pk)
        try:
            self.limiters.follow(await self.database(shared_rate.slow_down, *arguments))
        except DatabaseError:
            log.exception("The pace of %s could not be cut", endpoint.name)

    def _can_slow_down(self, endpoint: Endpoint, error: CallError) -> bool:
        """Whether a provider that still says "too many" has yet to be asked at the least pace."""
        share = self.limiters.limiter(endpoint.language_model_id).share
        is_at_least = share < 1.5 * shared_rate.LEAST_SHARE  # it grows again between two cuts
        return not is_at_least and (error.retry_after_s or 0.0) <= LONGEST_WAIT_S

    async def save(self, content: Any, *calls: Call) -> None:
        """Save what came of the item, together with the calls that it came from.

        Raises:
            saver.LeaseLost: The item belongs to another worker now.
        """
        if not await self.save_later(content, *calls):
            raise LeaseLost

    def save_later(self, content: Any, *calls: Call) -> "asyncio.Future[bool]":
        """The same without waiting; the future is False where the lease was lost."""
        save = Save(self.kind, self.batch.pk, self.item_id, content, list(calls))
        future = self.saver.add(save)
        if cost := sum(map(cost_of, calls)):
            budget = self.gate.budget
            future.add_done_callback(lambda _: budget.mark_saved(cost))
        return future


def fill(call: Call, completion: Completion | None) -> None:
    """Put down what came back; None when nothing did."""
    if completion is None:
        return
    call.reply = completion.reply
    call.request_id = completion.request_id[:200]
    call.finish_reason = completion.finish_reason[:50]
    call.input_tokens, call.output_tokens = completion.input_tokens, completion.output_tokens
    call.cost_usd, call.latency_ms = completion.cost_usd, completion.latency_ms


def cost_of(call: Call) -> float:
    """What a call adds to what is spent, in US dollars; nothing where it is not known."""
    return float(call.cost_usd or 0)


def estimate_usd(
    endpoint: Endpoint, messages: Sequence[dict[str, Any]], params: dict[str, Any]
) -> float:
    """What a call may cost at most, roughly; 0 where prices are not known."""
    limit = token_limit(endpoint.params | params) or DEFAULT_ANSWER_TOKENS
    sent = tokens_in(str(message.get("content") or "") for message in messages) + EXTRA_TOKENS
    return float(endpoint.cost_usd(sent, limit) or 0)
