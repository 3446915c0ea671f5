"""The form of a conversation's messages, as tests, feedback and workbenches take them. Pure."""

from collections.abc import Collection
from typing import Any

from evalhub.llm.content.content_parts import content_problem
from evalhub.llm.content.raw_prompt import RAW_PROMPT
from evalhub.values.strict_json import excerpt


def message_problem(message: Any, roles: Collection[str], *, may_be_open: bool = True) -> str:
    """Return what is wrong with a message; "" if nothing is.

    Args:
        message: Of whatever kind.
        roles: Those that it may have.
        may_be_open: Whether an assistant turn may be left to generate, its content null.
    """
    if not isinstance(message, dict):
        return f"expected an object with role and content, not {excerpt(message)}."
    role, content = message.get("role"), message.get("content")
    if role not in roles:
        return f"role {excerpt(role)} is not one of {', '.join(roles)}."
    calls = message.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(_is_call, calls))):
        return "tool_calls must be a list of objects, each with the object function."
    if content is None and role == "assistant" and (may_be_open or calls):
        return ""
    if role == RAW_PROMPT and isinstance(content, list):
        return "a raw prompt is one text, without parts."
    return content_problem(str(role), content)


def turns_to_generate(messages: list[dict[str, Any]]) -> list[int]:
    """Return positions that the model answers; `len(messages)` is the answer at the end."""
    holes = [
        position
        for position, message in enumerate(messages)
        if message["role"] == "assistant"
        and message.get("content") is None
        and not message.get("tool_calls")
    ]
    ends_open = messages[-1]["role"] in ("user", "tool", RAW_PROMPT)
    return [*holes, len(messages)] if ends_open else holes


def _is_call(call: Any) -> bool:
    """Return True for a function as providers have it, or a plain name and arguments."""
    return isinstance(call, dict) and isinstance(call.get("function", {}), dict)
