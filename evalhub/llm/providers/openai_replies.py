"""Reading replies in OpenAI's form. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.providers.responses import Tokens, embedded, first, parsed, whole

THOUGHT = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>(.*)", re.DOTALL)
"""Reasoning that a server leaves in front of the text."""

Piece = tuple[str, str, Tokens | None]


def chat_of(endpoint: Endpoint, response: Any, received: Completion) -> Completion:
    """Return the whole completion; raise if it has no text and no tool call."""
    raw = parsed(received.reply)
    message = first(raw, "choices", 0, "message")
    if not isinstance(message, Mapping):
        raise ValueError("no message")
    text = text_of(message.get("content"))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if not isinstance(reasoning, str) and (thought := THOUGHT.fullmatch(text)):
        reasoning, text = thought.groups()
    calls = message.get("tool_calls")
    return whole(
        endpoint,
        received,
        raw,
        text=text,
        tool_calls=[call for call in calls or () if isinstance(call, Mapping)],
        reasoning=reasoning if isinstance(reasoning, str) else "",
        tokens=tokens_of(raw),
    )


def text_completion_of(endpoint: Endpoint, response: Any, received: Completion) -> Completion:
    raw = parsed(received.reply)
    text = first(raw, "choices", 0, "text")
    if not isinstance(text, str):
        raise ValueError("no text")
    return whole(endpoint, received, raw, text=text, tokens=tokens_of(raw))


def vectors_of(endpoint: Endpoint, response: Any, received: Completion, n: int) -> Embedded:
    raw = parsed(received.reply)
    data = first(raw, "data")
    if not isinstance(data, list):
        raise ValueError("no vectors")
    return embedded(endpoint, received, raw, data, tokens_of(raw)[0], n)


def piece_of(line: str) -> Piece | None:
    """Read a line of a stream: its text, finish reason and tokens; None if it carries nothing.

    Raises:
        ValueError: The provider reports an error, or the line is not JSON.
    """
    data = line.removeprefix("data:").strip()
    if not line.startswith("data:") or data in ("", "[DONE]"):
        return None
    chunk = json.loads(data)
    if first(chunk, "error") is not None:
        raise ValueError("an error in the stream")
    text = first(chunk, "choices", 0, "delta", "content")
    reason = first(chunk, "choices", 0, "finish_reason")
    tokens = tokens_of(chunk)
    return text_of(text), str(reason or ""), tokens if any(tokens) else None


def text_of(content: Any) -> str:
    """Return a message's text, of one string or of parts."""
    if isinstance(content, list):
        return "".join(text_of(first(part, "text")) for part in content)
    return content if isinstance(content, str) else ""


def tokens_of(raw: Any) -> Tokens:
    """Return the input and output tokens that the provider counted; None: it did not."""
    counts = (first(raw, "usage", name) for name in ("prompt_tokens", "completion_tokens"))
    given = [count if isinstance(count, int) and count >= 0 else None for count in counts]
    return given[0], given[1]
