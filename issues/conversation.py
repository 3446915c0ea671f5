"""Messages of a test: their format, and the turns to generate."""

from typing import Any

from django.core.exceptions import ValidationError

ROLES = ("system", "user", "assistant", "tool")

Message = dict[str, Any]


def check_messages(messages: Any) -> None:
    """Raise a ValidationError that names every invalid message by its position.

    A conversation is a list of {"role", "content"}. Content is text, or null for an assistant turn
    to be generated (or one with tool calls). At least one turn must be left to generate.
    """
    if not isinstance(messages, list) or not messages:
        raise ValidationError("Enter at least one message, such as a user's question.")
    problems = [
        f"Message {number}: {problem}"
        for number, message in enumerate(messages, 1)
        if (problem := _problem_of(message))
    ]
    if not problems and not turns_to_generate(messages):
        problems = ["Nothing is left to answer: end with a user message."]
    if problems:
        raise ValidationError(problems)


def _problem_of(message: Any) -> str | None:
    if not isinstance(message, dict):
        return f"expected an object with role and content, not {message!r}."
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        return f"role {role!r} is not one of {', '.join(ROLES)}."
    if "tool_calls" in message and not _are_calls(message["tool_calls"]):
        return "tool_calls must be a list of objects, each with the object function."
    if content is None and role == "assistant":
        return None
    if not isinstance(content, str) or not content.strip():
        return f"a {role} message needs some text."
    return None


def _are_calls(calls: Any) -> bool:
    return calls is None or (isinstance(calls, list) and all(map(_is_call, calls)))


def _is_call(call: Any) -> bool:
    """Return True for a function as providers have it, or a plain name and arguments."""
    return isinstance(call, dict) and isinstance(call.get("function", {}), dict)


def turns_to_generate(messages: list[Message]) -> list[int]:
    """Return positions that the model answers; `len(messages)` is the answer at the end."""
    holes = [
        position
        for position, message in enumerate(messages)
        if message["role"] == "assistant"
        and message.get("content") is None
        and not message.get("tool_calls")
    ]
    ends_open = messages[-1]["role"] in ("user", "tool")
    return [*holes, len(messages)] if ends_open else holes


def filled(messages: list[Message], turns: list[str]) -> list[Message]:
    """Return the conversation with the first generated turns filled in.

    It ends before the first missing turn, so it is the model's next input.
    """
    holes = turns_to_generate(messages)
    open_ended = [*messages, {"role": "assistant"}] if len(messages) in holes else messages
    said = dict(zip(holes, turns, strict=False))
    end = holes[len(turns)] if len(turns) < len(holes) else len(open_ended)
    return [
        {"role": "assistant", "content": said[position]} if position in said else message
        for position, message in enumerate(open_ended[:end])
    ]
