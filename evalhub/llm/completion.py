"""A model's reply to a call: what it said, how that ended, and what it took. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from evalhub.llm.content.content_parts import content_text


class Ending(StrEnum):
    """How a reply ended. WHOLE: nothing says that it broke off."""

    WHOLE = ""
    LENGTH = "length"
    FILTERED = "content_filter"
    ERROR = "error"
    ABORTED = "abort"
    PROMPT_CUT = "prompt_cut"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Ending.WHOLE: "whole",
    Ending.LENGTH: "cut off at the token limit",
    Ending.FILTERED: "stopped by a content filter",
    Ending.ERROR: "broken off by an error",
    Ending.ABORTED: "aborted",
    Ending.PROMPT_CUT: "given to a prompt that the server cut",
}

REASONS = {
    Ending.LENGTH: {
        *("length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_length"),
        *("model_length", "token_limit", "max_output_reached"),
        "repetition",  # of vLLM: a loop, which would have reached the limit
        *("context_window_exceeded", "model_context_window_exceeded"),
    },
    Ending.FILTERED: {
        *("content_filter", "content_filtered", "safety", "image_safety", "blocklist", "refusal"),
        *("prohibited_content", "image_prohibited_content", "recitation", "image_recitation"),
        *("spii", "language", "guardrail_intervened", "error_toxic", "sensitive", "model_armor"),
    },
    Ending.ERROR: {
        *("error", "insufficient_system_resource", "network_error", "timeout", "failed"),
        *("malformed_function_call", "malformed_model_output", "malformed_tool_use"),
        *("malformed_response", "missing_thought_signature", "image_other", "no_image"),
        *("unexpected_tool_call", "too_many_tool_calls", "error_limit", "time_limit", "other"),
    },
    Ending.ABORTED: {
        *("abort", "aborted", "cancel", "cancelled", "canceled", "user_cancel"),
        *("incomplete", "pause_turn", "unload", "not_finished"),
    },
}
"""Finish reasons of providers, in lower case, that mean that a reply broke off."""

_ENDINGS = {reason: ending for ending, reasons in REASONS.items() for reason in reasons}


def ending_of(finish_reason: str) -> Ending:
    """Return what a finish reason means, also “content_filter: SAFETY” or “FinishReason.SAFETY”."""
    reasons = re.split("[:.]", finish_reason.lower().replace("-", "_"))
    endings = (_ENDINGS.get(reason.strip()) for reason in reasons)
    return next(filter(None, endings), Ending.WHOLE)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a provider counted and charges for a reply; None: it says nothing of it.

    `input_tokens` are all, also those read from the provider's cache and written to it, and
    `output_tokens` all, also those of reasoning. Audio is a part of both.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_input_tokens: int | None = None
    audio_output_tokens: int | None = None
    charged_usd: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class AnswerTurn:
    """What a model said in one turn; its text is a part of it.

    `tool_calls` are in the form of providers. `images` are parts of a message, stored (see
    `content_parts`) or {"type": "image_url", …} as sent. `refusal` is what a provider sends apart
    from the text. `finish_reason` and `error`, that of the choice, are the provider's own words.
    `prompt_cut` says how much of the prompt the server left out; "": nothing that is known.
    `documents` are those that an application retrieved, each {"text", "title"}; None: it reports
    none. `session_id` is that of an application's conversation. `may_hold_reasoning`: the text has
    marks of reasoning that may be its own words, and was left as it came.
    """

    text: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    images: tuple[dict[str, Any], ...] = ()
    refusal: str = ""
    reasoning: str = ""
    may_hold_reasoning: bool = False
    finish_reason: str = ""
    error: str = ""
    prompt_cut: str = ""
    documents: tuple[dict[str, str], ...] | None = None
    session_id: str = ""

    @property
    def ending(self) -> Ending:
        if self.error:
            return Ending.ERROR
        cut = Ending.PROMPT_CUT if self.prompt_cut else Ending.WHOLE
        return ending_of(self.finish_reason) or cut

    @property
    def is_empty(self) -> bool:
        return not (self.words.strip() or self.tool_calls or self.images)

    @property
    def words(self) -> str:
        """Its text and refusal: what checks search, and what lists show."""
        return "\n\n".join(filter(None, (self.text, self.refusal)))

    def message(self) -> dict[str, Any]:
        """Return the turn as a message of the next request of its conversation.

        No provider takes images from an assistant: they are named, as in other texts.
        """
        images = content_text(list(self.images))
        content = "\n".join(filter(None, (self.words, images)))
        calls = {"tool_calls": list(self.tool_calls)} if self.tool_calls else {}
        return {"role": "assistant", "content": content or (None if calls else ""), **calls}

    def stored(self) -> dict[str, Any]:
        """Return the turn as JSON, its text as "content"; what is empty is left out."""
        turn: dict[str, Any] = {"content": self.text}
        for each in fields(AnswerTurn):
            value = getattr(self, each.name)
            if each.name != "text" and value not in ((), "", None, False):
                turn[each.name] = list(value) if isinstance(value, tuple) else value
        if self.documents is not None:
            turn["documents"] = list(self.documents)
        return turn

    @classmethod
    def of(cls, stored: Mapping[str, Any], **more: Any) -> Self:
        """Return the turn that was stored; keys that are none of its own are left out."""
        names = {each.name for each in fields(AnswerTurn)} & stored.keys()
        own = {name: stored[name] for name in names}
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}
        return cls(**{"text": stored.get("content", ""), **values, **more})


@dataclass(frozen=True, kw_only=True)
class Completion(AnswerTurn, Usage):
    """A provider's reply, parsed and raw.

    None means not measured: the provider counted no tokens, or prices are unknown. `latency_ms`
    is from sending to the last byte. `reply` is the provider's own, as sent: JSON text unless the
    provider sent something else.

    `sent_params` are the parameters really sent, without tools and the text of a schema; None: not
    recorded. `refused_params` are those left out because the endpoint refuses them, with their
    values; `learnt` what it refused first in this call (`evalhub.llm.capabilities`).
    """

    cost_usd: Decimal | None = None
    latency_ms: int = 0
    request_id: str = ""
    reply: str = ""
    sent_params: dict[str, Any] | None = None
    refused_params: dict[str, Any] = field(default_factory=dict)
    learnt: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Embedded(Completion):
    """The vectors of texts, in the order of the texts and all of one length; `text` is empty.

    `reply` is the provider's without the vectors.
    """

    vectors: tuple[tuple[float, ...], ...]
