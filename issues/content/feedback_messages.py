"""Whole conversations in feedback: what was said before the answer that it is about. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from evalhub.limits import MAX_JSON
from evalhub.llm.content.content_parts import content_text
from evalhub.values.strict_json import excerpt
from issues.content.message_form import message_problem
from issues.limits import MAX_MESSAGES

ROLES = ("system", "user", "assistant", "tool")
KEYS = ("role", "content", "tool_calls", "tool_call_id", "name")


def with_conversation(fields: dict[str, Any]) -> dict[str, Any]:
    """Return feedback's fields with `messages` taken apart: those before the answer, and both ends.

    `prompt` becomes the last message of the user, and `answer` the last turn if it is the
    application's. Without messages the fields are unchanged.

    Raises:
        ValueError: The messages are no conversation, or contradict prompt or answer.
    """
    messages = fields.get("messages")
    if messages in (None, []):
        return {name: value for name, value in fields.items() if name != "messages"}
    _check(messages)
    found = dict(fields)
    if messages[-1]["role"] == "assistant":
        *messages, last = messages
        _set(found, "answer", content_text(last.get("content")), "the last message")
    asked = [content_text(turn["content"]) for turn in messages if turn["role"] == "user"]
    if not asked or messages[-1]["role"] not in ("user", "tool"):
        raise ValueError("messages: a user message must come before the answer.")
    _set(found, "prompt", asked[-1], "the last user message")
    is_prompt = len(messages) == 1 and isinstance(messages[0]["content"], str)
    return found | {"messages": [] if is_prompt else messages}


def _set(fields: dict[str, Any], name: str, text: str, what: str) -> None:
    given = fields.get(name) or ""
    if given.strip() and given.strip() != text.strip():
        raise ValueError(f"{name}: {excerpt(given)} is not {what}, {excerpt(text)}: send it once.")
    fields[name] = text


def _check(messages: Any) -> None:
    if not isinstance(messages, list):
        raise ValueError(f"messages: expected a list of messages, not {excerpt(messages)}.")
    if len(messages) > MAX_MESSAGES:
        raise ValueError(f"messages: there are {len(messages)}; the maximum is {MAX_MESSAGES}.")
    if len(json.dumps(messages)) > MAX_JSON:
        raise ValueError(f"messages: they have more than {MAX_JSON:,} characters.")
    for number, message in enumerate(messages, 1):
        if problem := _problem(message):
            raise ValueError(f"messages: message {number}: {problem}")


def _problem(message: Any) -> str:
    if isinstance(message, dict) and (unknown := [name for name in message if name not in KEYS]):
        return f"unknown key {excerpt(unknown[0])}. Use {', '.join(KEYS)}."
    return message_problem(message, ROLES, may_be_open=False)


def turns_of(messages: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return role and text of each message; tool calls are written as JSON."""
    turns = []
    for message in messages:
        calls = [json.dumps(c, ensure_ascii=False) for c in message.get("tool_calls") or ()]
        text = content_text(message.get("content"))
        turns.append((message["role"], "\n".join([text, *calls]).strip()))
    return turns
