"""Calls to models for a person who waits: at once, without retries, and streamed if wanted."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalhub.llm import gateway
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.models import Call, CallRole
from evalhub.work.caller import Caller, CallReply, PendingCall, T, estimate_usd

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
    """Makes calls at once. Their records stay in `calls`, to be saved afterwards."""

    slots: dict[int, asyncio.Semaphore] = field(default_factory=dict)

    async def answered(self, pending: PendingCall[T]) -> tuple[T, Call]:
        endpoint = pending.endpoint
        width = min(AT_ONCE, endpoint.max_concurrency)
        slot = self.slots.setdefault(endpoint.language_model_id, asyncio.Semaphore(width))
        async with slot:
            with self.gate.reserve(pending.estimate_usd):
                reply = await self.once(pending)
        return reply

    def record(self, call: Call) -> None:
        """Do nothing: `calls` has it already."""

    async def stream(
        self,
        endpoint: Endpoint,
        messages: Sequence[dict[str, Any]],
        *,
        role: CallRole,
        take: Callable[[str], None],
    ) -> CallReply:
        """Ask a model, and give `take` each piece of its text; one piece if it does not stream."""
        pieces: list[str] = []

        def taken(text: str) -> None:
            pieces.append(text)
            take(text)

        pending = PendingCall(
            endpoint=endpoint,
            role=role,
            digest=gateway.request_digest(endpoint, messages, {}),
            estimate_usd=estimate_usd(endpoint, messages, {}),
            send=lambda: gateway.stream(endpoint, messages, {}, taken),
        )
        try:
            return CallReply(*await self.answered(pending))
        except CallError as error:
            if pieces or error.kind not in UNSTREAMED:
                raise
        reply = await self.call(endpoint, messages, {}, role=role)
        take(reply.completion.text)
        return reply
