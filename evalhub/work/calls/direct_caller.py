"""Calls to models for a person who waits: retried for half a minute, and streamed if wanted."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.db import connection

from evalhub.limits import LONGEST_PAUSE_S
from evalhub.llm import gateway
from evalhub.llm.completion import Completion
from evalhub.llm.content.images import data_urls, refuse_unseen
from evalhub.llm.costs.token_estimates import estimate_usd
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.models import Call, CallRole, LanguageModel
from evalhub.llm.retry import next_try
from evalhub.work.calls.caller import Caller, CallReply, PendingCall, T
from evalhub.work.limits.rate_limiter import RateLimiter, RateLimiters
from evalhub.work.limits.shared_rate import Shared, cut

AT_ONCE = 4
"""Calls in flight to one model, and fewer if the model allows fewer."""

UNSTREAMED = {
    CallErrorKind.BAD_REQUEST,
    CallErrorKind.EMPTY_ANSWER,
    CallErrorKind.UNREADABLE_REPLY,
}
"""Failures of a stream after which the whole reply is asked for: some providers do not stream."""


@dataclass(kw_only=True)
class DirectCaller(Caller):
    """Makes calls at once, within the models' limits as workers have cut them after a 429.

    Attributes:
        shared: The models' rates as just read; one without is called at its full rate.
        rate_limited: Models that replied 429, with the seconds to wait that they asked for; None
            if they did not. To be saved afterwards, as `calls`, so that workers slow down.
    """

    shared: Mapping[int, Shared] = field(default_factory=dict)
    rate_limited: dict[int, float | None] = field(default_factory=dict)
    limiters: RateLimiters = field(default_factory=RateLimiters)

    async def answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        endpoint, random, attempt = pending.endpoint, Random(), 0
        limiter = self._limiter(endpoint)
        until = 0.0
        while True:
            attempt += 1
            _refuse_long_pause(limiter, endpoint)
            try:
                async with self.limiters.slot(endpoint, self.gate):
                    with self.gate.reserve(pending.estimate_usd):
                        return await self.once(pending, attempt)
            except CallError as error:
                now = time.monotonic()
                until = until or now + LONGEST_PAUSE_S
                if error.kind is CallErrorKind.RATE_LIMITED:
                    self.rate_limited[endpoint.language_model_id] = error.retry_after_s
                    asked_until = now + (error.retry_after_s or 0)
                    limiter.paused_until = max(limiter.paused_until, asked_until)
                retry = next_try(error, attempt, limiter.share, random)
                is_slow = error.kind is CallErrorKind.TIMED_OUT
                if is_slow or retry is None or retry.is_later or now + retry.wait_s > until:
                    raise
                await asyncio.sleep(retry.wait_s)

    def _limiter(self, endpoint: Endpoint) -> RateLimiter:
        limiter = self.limiters.limiter(endpoint.language_model_id)
        if not limiter.is_joined:
            limiter.is_joined = True
            known = self.shared.get(endpoint.language_model_id)
            share, per_minute = known.share if known else 1.0, endpoint.requests_per_minute
            limiter.follow(
                Shared(
                    width=max(1, min(AT_ONCE, int(endpoint.max_concurrency * share))),
                    per_minute=per_minute and max(1, int(per_minute * share)),
                    share=share,
                    paused_s=known.paused_s if known else 0.0,
                    seen_at=None,
                )
            )
        return limiter

    def record(self, call: Call) -> None:
        """Do nothing: `calls` has it already."""

    def note_sent(self, call: Call) -> None:
        """Do nothing: `calls` are saved by the process that the person waits for."""

    async def data_urls(self, digests: Sequence[str]) -> dict[str, str]:
        return await asyncio.to_thread(_read_images, digests)

    async def stream(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        *,
        role: CallRole,
        take: Callable[[str], None],
    ) -> CallReply:
        """Ask a model, and give `take` each piece of its text; one piece if it does not stream."""
        refuse_unseen(endpoint, messages)
        pieces: list[str] = []

        def taken(text: str) -> None:
            pieces.append(text)
            take(text)

        async def send() -> Completion:
            try:
                sent = await self._with_images(messages)
                return await gateway.stream(endpoint, sent, {}, taken)
            except CallError as error:
                if pieces or error.kind in UNSTREAMED:
                    error.can_retry = False
                raise

        pending = PendingCall(
            endpoint=endpoint,
            role=role,
            digest=gateway.request_digest(endpoint, messages, {}),
            estimate_usd=estimate_usd(endpoint, messages, {}),
            send=send,
        )
        try:
            return CallReply(*await self.answered(pending))
        except CallError as error:
            if pieces or error.kind not in UNSTREAMED:
                raise
        reply = await self.call(endpoint, messages, {}, role=role)
        take(reply.completion.text)
        return reply


def save_calls(caller: DirectCaller) -> None:
    """Save the calls that are not saved yet, the rates that were cut, and what was refused."""
    Call.objects.bulk_create([call for call in caller.calls if call.pk is None])
    for model, retry_after_s in caller.rate_limited.items():
        cut(model, retry_after_s)
    for call in caller.calls:
        if call.completion and call.completion.learnt:
            remember = LanguageModel.objects.remember_refused
            remember(call.language_model_id, call.completion.learnt)


def _read_images(digests: Sequence[str]) -> dict[str, str]:
    try:
        return data_urls(digests)
    finally:
        connection.close()  # the thread's own


def _refuse_long_pause(limiter: RateLimiter, endpoint: Endpoint) -> None:
    pause_s = limiter.paused_until - time.monotonic()
    if pause_s > LONGEST_PAUSE_S:
        raise CallError(
            CallErrorKind.RATE_LIMITED,
            f"{endpoint.name} reached its rate limit and takes no call for {pause_s:.0f} seconds. "
            "Try again then, or choose another model.",
            can_retry=False,
        )
