"""Reading replies in OpenAI's form, also as litellm makes them of others. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalhub.llm.applications.application_reply import tool_call_of
from evalhub.llm.completion import Completion, Embedded, Usage
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.providers.responses import embedded, first, parsed, whole
from evalhub.llm.providers.usage import usage_of
from evalhub.llm.verdicts.reasoning import split

REASONING = (
    *("reasoning_content", "reasoning", "thinking", "reasoning_text"),
    *("reasoning_details", "thinking_blocks"),
)
"""Fields of a message with its reasoning, as text or as parts; often several with the same."""

THOUGHTS = {"thinking", "thought", "reasoning", "reasoning_text", "summary_text"}
"""Types of parts of a message that are reasoning."""

WORDS = ("thinking", "reasoning", "text", "summary", "content")
"""Names of what a part says."""


class Said(NamedTuple):
    """What a message says: its text without reasoning, unless that is not sure."""

    text: str
    reasoning: str
    is_sure: bool
    tool_calls: list[Mapping[str, Any]]


def chat_of(endpoint: Endpoint, response: Any, received: Completion) -> Completion:
    """Return the whole completion of a conversation or a raw prompt; raise if it is empty."""
    raw = parsed(received.reply)
    choice = first(raw, "choices", 0)
    message = first(choice, "message") or first(choice, "delta")
    text, reason = first(choice, "text"), first(choice, "finish_reason")
    if message is None and (isinstance(text, str) or isinstance(reason, str)):
        message = {"content": text}  # of a raw prompt; Google sends neither where it refuses
    if not isinstance(message, Mapping):
        raise ValueError("no message")
    return _completion(endpoint, received, raw, message, usage_of(raw))


def translated_of(endpoint: Endpoint, response: Any, received: Completion) -> Completion:
    """Return the whole completion from litellm's form; raise if it is empty."""
    raw = parsed(received.reply)
    choice = response.choices[0]
    found = {name: value for name, value in choice.message.model_dump().items() if value}
    message = {**_own_message(raw, found), "tool_calls": found.get("tool_calls")}
    usage = translated_usage(raw, getattr(response, "usage", None))
    return _completion(endpoint, received, raw, message, usage, choice.finish_reason or "")


def _own_message(raw: Any, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return litellm's message with the provider's content, of which litellm loses or moves some.

    Its tool calls are litellm's, which may make content of one that stands for a JSON schema.
    """
    own = first(raw, "choices", 0, "message")
    if not isinstance(own, Mapping):
        own = {"content": first(raw, "candidates", 0, "content", "parts")}
    if not own.get("content"):
        return {**own, **found}
    return {**{name: value for name, value in found.items() if name not in REASONING}, **own}


def vectors_of(endpoint: Endpoint, response: Any, received: Completion, n: int) -> Embedded:
    """Return n vectors, also from litellm's form; raise CallError as `embedded` does."""
    raw = parsed(received.reply)
    data = [dict(item) for item in getattr(response, "data", ())] or first(raw, "data")
    if not isinstance(data, list):
        raise ValueError("no vectors")
    usage = translated_usage(raw, getattr(response, "usage", None))
    return embedded(endpoint, received, raw, data, usage, n)


def translated_usage(raw: Any, usage: Any) -> Usage:
    """Return the provider's usage; litellm's only where the reply is in no form that is known.

    Where a provider does not count, litellm fills in zeros or an estimate.
    """
    found = usage_of(raw)
    is_known = isinstance(raw, Mapping) and ("choices" in raw or "data" in raw)
    if found != Usage() or is_known or usage is None:
        return found
    return usage_of({"usage": usage.model_dump()})


def _completion(
    endpoint: Endpoint,
    received: Completion,
    raw: Any,
    message: Mapping[str, Any],
    usage: Usage,
    finish_reason: str = "",
) -> Completion:
    said = said_in(message)
    return whole(
        endpoint,
        received,
        raw,
        text=said.text,
        tool_calls=said.tool_calls,
        reasoning=said.reasoning,
        may_hold_reasoning=not said.is_sure,
        usage=usage,
        finish_reason=finish_reason,
    )


def said_in(message: Mapping[str, Any]) -> Said:
    """Read a message: its content of text or parts, reasoning in any field, and tool calls."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    thoughts = [part for part in parts if _is_thought(part)]
    text = "".join(words_of(part) for part in parts if not _is_thought(part))
    fields = (words_of(message.get(name)) for name in REASONING)
    apart = next(filter(None, fields), "") or "\n\n".join(map(words_of, thoughts))
    found = split(text or words_of(first(message, "audio", "transcript")), apart)
    calls = message.get("tool_calls") or [message.get("function_call")]
    calls = [*(calls if isinstance(calls, list) else ()), *filter(_is_call, parts)]
    return Said(*found, [_call(one) for one in calls if isinstance(one, Mapping)])


def text_of(content: Any) -> str:
    """Return the text of a message's content, without parts that are reasoning."""
    parts = content if isinstance(content, list) else [content]
    return "".join(words_of(part) for part in parts if not _is_thought(part))


def words_of(value: Any) -> str:
    """Return the words of a text, of a part of a message, or of parts."""
    if isinstance(value, list):
        return "".join(map(words_of, value))
    if isinstance(value, Mapping):
        return next((words for name in WORDS if (words := words_of(value.get(name)))), "")
    return value if isinstance(value, str) else ""


def _is_thought(part: Any) -> bool:
    kind = first(part, "type")
    return first(part, "thought") is True or (isinstance(kind, str) and kind in THOUGHTS)


def _is_call(part: Any) -> bool:
    return first(part, "type") in ("tool_use", "tool_call", "function_call")


def _call(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool call in OpenAI's form, with all that its provider adds to it."""
    if isinstance(first(value, "function", "arguments"), str):
        return value
    function = value.get("function") or value.get("custom")
    own = function if isinstance(function, Mapping) else value
    called = {"id": value.get("id") or value.get("call_id"), **tool_call_of(dict(own))}
    return {name: given for name, given in called.items() if given is not None}
