"""Calls to models for one item of work, within its batch's cost limit and the models' rates."""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, Generic, Protocol, TypeVar, cast

from django.db import DatabaseError
from django.utils import timezone

from evalhub.access.sealing.exposures import Sendings
from evalhub.llm import gateway
from evalhub.llm.completion import Completion, Embedded, Ending
from evalhub.llm.content.content_parts import images_in, with_data_urls
from evalhub.llm.content.images import data_urls, missing, refuse_unseen
from evalhub.llm.costs.token_estimates import EXTRA_TOKENS, estimate_usd, tokens_in
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import OUTAGES, CallError, CallErrorKind
from evalhub.llm.models import Call, CallRole, LanguageModel
from evalhub.llm.providers.responses import broken_off
from evalhub.llm.retry import next_try
from evalhub.work.calls.errors import BatchFailed, GivenBack, LeaseLost
from evalhub.work.calls.records import cost_of, fill
from evalhub.work.database import Database
from evalhub.work.limits import shared_rate
from evalhub.work.limits.budget import Gate
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.limits.refused_requests import RefusedRequest, is_limited_for_good
from evalhub.work.limits.shared_rate import PROBE_S

log = logging.getLogger(__name__)
T = TypeVar("T", bound=Completion)

CANCELLED = "cancelled"
"""Error kind of a call that was ended before its reply arrived. Its cost is unknown."""

OUTAGE_TRY = 3
"""A provider is down if it replied to nobody from this try of a call to its last."""

HOPS = 2
"""Turns of the event loop until a call that waited is sent: one to wake it, one for the others."""

Saved = asyncio.Future[bool]
"""The outcome of a save: False if the item belongs to another worker now."""


@dataclass
class CallReply:
    """A completion and the record of its call, which is saved with whatever is made of it."""

    completion: Completion
    call: Call


@dataclass(frozen=True)
class PendingCall(Generic[T]):
    """A request to an endpoint; `send` makes it once."""

    endpoint: Endpoint
    role: CallRole
    digest: str
    estimate_usd: float
    send: Callable[[], Awaitable[T]]


@dataclass(kw_only=True)
class Caller(ABC):
    """Makes calls within a cost limit and records them.

    Attributes:
        work_key: What they are made for, as calls name it.
        item_id: The item of it; None if it has none.
        calls: All calls made so far, failed ones too.
    """

    work_key: str
    item_id: int | None
    gate: Gate
    calls: list[Call] = field(default_factory=list)

    @abstractmethod
    async def answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        """Make a call; raise CallError if there is no reply."""

    @abstractmethod
    def record(self, call: Call) -> None:
        """Save a call by itself, without waiting."""

    @abstractmethod
    def note_sent(self, call: Call) -> None:
        """Note a call that is about to be sent, in case that this process is killed."""

    async def call(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        params: dict[str, Any],
        *,
        role: CallRole,
        schema: dict[str, Any] | None = None,
        tools: Sequence[dict[str, Any]] = (),
        accepted: Collection[Ending] = (Ending.LENGTH,),
    ) -> CallReply:
        """Ask a model. Failed tries are recorded too.

        Args:
            accepted: Endings of replies that are taken though they broke off.

        Raises:
            CallError: The call failed for good; it is recorded. Or it has images and the model
                takes none: nothing is sent or recorded.
            BatchFailed: Every call to this endpoint would fail, as with a wrong key.
            GivenBack: Stop, and give the item back.
        """
        sent = dict(params, tools=list(tools)) if tools else params
        refuse_unseen(endpoint, messages)

        async def send() -> Completion:
            asked = await self._with_images(messages)
            completion = await gateway.complete(endpoint, asked, sent, schema)
            if completion.ending and completion.ending not in accepted:
                raise broken_off(endpoint, completion)
            return completion

        pending = PendingCall(
            endpoint=endpoint,
            role=role,
            digest=gateway.request_digest(endpoint, messages, sent, schema),
            estimate_usd=estimate_usd(endpoint, messages, sent),
            send=send,
        )
        return CallReply(*await self.answered(pending))

    async def _with_images(self, messages: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        """Return the conversation as it is sent, with its images read and as data: URLs.

        Raises:
            CallError: One is not stored.
        """
        digests = images_in(messages)
        if not digests:
            return messages
        urls = await self.data_urls(digests)
        if gone := [digest for digest in digests if digest not in urls]:
            raise missing(gone)
        return with_data_urls(messages, urls)

    @abstractmethod
    async def data_urls(self, digests: Sequence[str]) -> dict[str, str]:
        """Return the data: URLs of stored images by digest."""

    async def once(self, pending: PendingCall[T], attempt: int = 1) -> tuple[T, Call]:
        call = Call(
            language_model_id=pending.endpoint.language_model_id,
            role=pending.role,
            batch=self.work_key,
            item_id=self.item_id,
            request_digest=pending.digest,
            attempt=attempt,
            started_at=timezone.now(),
            cost_usd=pending.endpoint.cost_usd(None, None),
        )
        self.calls.append(call)
        self.note_sent(call)
        try:
            completion = await pending.send()
        except CallError as error:
            self._failed(call, error.kind.value, error.message, error.completion)
            if not error.is_billed and call.cost_usd is None:
                call.cost_usd = Decimal(0)
            self.record(call)
            raise
        except asyncio.CancelledError:
            self._failed(call, CANCELLED, "Cancelled before the reply arrived.", None)
            self.record(call)
            raise
        fill(call, completion)
        call.completion = completion
        self.gate.budget.add_unsaved(cost_of(call))
        return completion, call

    def _failed(self, call: Call, kind: str, message: str, completion: Completion | None) -> None:
        fill(call, completion)
        call.error_kind, call.error_message = kind, message
        self.gate.budget.add_unsaved(cost_of(call))


class Sent(Protocol):
    """What outlives the process: the calls that it sent and has not saved."""

    def add(self, call: Call, /) -> None: ...

    def saved(self, calls: Sequence[Call], /) -> None: ...


@dataclass(kw_only=True)
class ModelCaller(Caller):
    """Makes and saves the calls for one item, with retries.

    Attributes:
        queue_save: Queues content, or None, to be saved with calls, after other saves.
        sent: Is told of each call before it is sent, and when it was saved.
        sealed: Sealed tests whose text the calls carry. Sending it outside the trusted network is
            recorded in `sendings` first.
        fund: Reserves a call's cost, if there is a limit.
        may_hold: Returns False once the item may have been given to another worker.
        unsaved: Earlier calls with replies that could not be saved: each is taken once.
        is_lost: The item was given to another worker.
        is_given_back: The item is released: whoever claims it begins anew.
        open_calls: Calls that wait for their turn, for a reply or for their next try.
    """

    worker_id: int
    limiters: RateLimiters
    queue_save: Callable[[Any, list[Call], Sequence[Saved]], Saved]
    database: Database
    random: Random
    sendings: Sendings
    sent: Sent
    sealed: Sequence[int] = ()
    fund: Callable[[float], Awaitable[object]]
    may_hold: Callable[[], bool]
    unsaved: list[Call] = field(default_factory=list)
    is_lost: bool = False
    is_given_back: bool = False
    open_calls: int = 0

    @property
    def has_replies(self) -> bool:
        """True if no call is left to wait for: the item is read, checked or saved."""
        return bool(self.calls) and not self.open_calls

    async def data_urls(self, digests: Sequence[str]) -> dict[str, str]:
        return await self.database.with_retries(data_urls, digests)

    async def embed(self, endpoint: Endpoint, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts, in their order, by one recorded call to an embedding model.

        The model must be among the endpoints of the kind of work. Raises as `call` does.
        """
        tokens = tokens_in(texts) + EXTRA_TOKENS
        pending = PendingCall(
            endpoint=endpoint,
            role=CallRole.EMBEDDING,
            digest=gateway.embedding_digest(endpoint, texts),
            estimate_usd=float(endpoint.cost_usd(tokens, 0) or 0),
            send=lambda: gateway.embed(endpoint, texts),
        )
        embedded, call = await self.answered(pending)
        self.record(call)
        return embedded

    async def answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        """Call until there is a reply, or until retrying cannot help."""
        self.open_calls += 1
        try:
            return await self._answered(pending)
        finally:
            self.open_calls -= 1

    async def _answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        if (call := self._take_unsaved(pending)) is not None:
            return cast(T, call.kept_completion()), call
        await self.sendings.note(self.sealed, pending.endpoint, pending.role)
        attempt, began_at, asked_at = 0, 0.0, timezone.now()
        while True:
            attempt += 1
            if attempt <= OUTAGE_TRY:
                began_at = time.monotonic()
            try:
                async with self.limiters.slot(pending.endpoint, self.gate, self.item_id):
                    await self.fund(pending.estimate_usd)
                    if self.is_lost or not self.may_hold():
                        raise GivenBack
                    with self.gate.reserve(pending.estimate_usd):
                        found = await self._once_or_stop(pending, attempt, asked_at)
            except CallError as error:
                await self._wait_or_raise(error, pending, attempt, began_at)
            else:
                self.gate.refusals.replied(pending.endpoint.language_model_id)
                await self._let_others_begin(pending.endpoint, found[1])
                return found

    async def _let_others_begin(self, endpoint: Endpoint, call: Call) -> None:
        """Note the reply, and let calls that waited for it be sent before it is read.

        Replies come in crowds, as they were asked for, and take as long to read as one to arrive.
        """
        limiter = self.limiters.limiter(endpoint.language_model_id)
        try:
            if limiter.replied():
                await self._end_outage(endpoint)
            if call.completion and (learnt := call.completion.learnt):
                remember = LanguageModel.objects.remember_refused
                await self.database.with_retries(remember, endpoint.language_model_id, learnt)
            for _ in range(HOPS):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            call.keep_reply()
            self.record(call)
            raise

    def _take_unsaved(self, pending: PendingCall[T]) -> Call | None:
        for call in self.unsaved:
            if (call.request_digest, call.role) == (pending.digest, pending.role):
                self.unsaved.remove(call)
                self.calls.append(call)
                return call
        return None

    def record(self, call: Call) -> None:
        """Save a call by itself, without waiting."""
        self.save_later(None, call)

    def note_sent(self, call: Call) -> None:
        self.sent.add(call)

    async def _once_or_stop(
        self, pending: PendingCall[T], attempt: int, asked_at: datetime
    ) -> tuple[T, Call]:
        """Call once, and stop the batch if other requests would be refused too.

        Raises:
            BatchFailed: The item is given back. Else the refusal is an error of the item.
        """
        try:
            return await self.once(pending, attempt)
        except CallError as error:
            endpoint, refusals = pending.endpoint, self.gate.refusals
            reason, model = f"{endpoint.name}: {error.message}", endpoint.language_model_id
            refused = RefusedRequest(self.work_key, self.item_id, model, pending.digest, asked_at)
            if await refusals.stop(error, refused, reason, self.database):
                self.gate.is_open = False
                if not refusals.reason:
                    raise BatchFailed(reason) from error
            raise

    async def _wait_or_raise(
        self, error: CallError, pending: PendingCall[T], attempt: int, began_at: float
    ) -> None:
        """Wait for the next try; raise if there is none, or none that is worth waiting for."""
        endpoint = pending.endpoint
        limiter = self.limiters.limiter(endpoint.language_model_id)
        if error.kind == CallErrorKind.RATE_LIMITED:
            await self._follow(endpoint, shared_rate.cut, error.retry_after_s)
        retry = next_try(error, attempt, limiter.share, self.random)
        if not (error.can_retry and error.kind in OUTAGES):
            if limiter.replied():
                await self._end_outage(endpoint)
        elif limiter.failed(self.item_id, began_at, is_last_try=retry is None):
            await self._follow(endpoint, shared_rate.note_outage, error.message)
            raise GivenBack(after_s=PROBE_S) from error
        if retry is None:
            raise error
        if retry.is_later:
            request = self.work_key, self.item_id, pending.digest
            if await self.database.with_retries(is_limited_for_good, *request):
                raise error
            raise GivenBack(after_s=retry.wait_s) from error
        await asyncio.sleep(retry.wait_s)

    async def _end_outage(self, endpoint: Endpoint) -> None:
        await self._follow(endpoint, shared_rate.end_outage)

    async def _follow(self, endpoint: Endpoint, change: Callable[..., None], *args: Any) -> None:
        """Change the model's shared rate, and follow it here at once."""
        model = endpoint.language_model_id
        since = self.limiters.limiter(model).since
        try:
            self.limiters.follow(
                await self.database(
                    shared_rate.changed, model, since, self.worker_id, change, *args
                )
            )
        except DatabaseError:
            log.exception("The rate of %s could not be changed", endpoint.name)

    async def save(self, content: Any, *calls: Call, after: Sequence[Saved] = ()) -> None:
        """Save content together with its calls; raise LeaseLost if another worker has the item.

        Args:
            after: What was queued before and must be saved too; errors of it are raised.
        """
        if not await self.save_later(content, *calls, after=after):
            raise LeaseLost

    def save_later(self, content: Any, *calls: Call, after: Sequence[Saved] = ()) -> Saved:
        """Save as `save` does, without waiting."""
        future = self.queue_save(content, list(calls), after)
        cost, budget = sum(cost_of(call) for call in calls if call.pk is None), self.gate.budget
        if cost:
            future.add_done_callback(lambda _: budget.mark_saved(cost))
        future.add_done_callback(lambda _: self.sent.saved(calls))
        return future
