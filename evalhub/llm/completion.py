"""A provider's reply to a call. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A provider's reply, parsed and raw.

    None means not measured: the provider counted no tokens, or prices are unknown. `latency_ms`
    is from sending to the last byte. `finish_reason` and `reply` are the provider's own, as sent;
    `reply` is JSON text unless the provider sent something else. `documents` are those that an
    application retrieved, each {"text", "title"}; None: it reports none. `session_id` is that of
    an application's conversation.
    """

    text: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    documents: tuple[dict[str, str], ...] | None = None
    session_id: str = ""
    reasoning: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    latency_ms: int = 0
    finish_reason: str = ""
    request_id: str = ""
    reply: str = ""


@dataclass(frozen=True, kw_only=True)
class Embedded(Completion):
    """The vectors of texts, in the order of the texts and all of one length; `text` is empty.

    `reply` is the provider's without the vectors.
    """

    vectors: tuple[tuple[float, ...], ...]
