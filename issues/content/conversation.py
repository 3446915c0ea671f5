"""Messages of a test: their format, the request to the candidate, and the turns to generate."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.content.content_parts import with_system_prompt, with_text_before
from evalhub.llm.content.raw_prompt import RAW_PROMPT, raw_prompt_of
from issues.content.message_form import message_problem, turns_to_generate

ROLES = ("system", "user", "assistant", "tool", RAW_PROMPT)

Message = dict[str, Any]

DOCUMENTS = "<documents>\n{context}\n</documents>"
"""Form of a test's documents in the request to a candidate; documented in docs/judging.md."""


def check_messages(messages: Any) -> None:
    """Raise a ValidationError that names every invalid message by its position.

    A conversation is a list of {"role", "content"}. Content is text, a list of parts
    (`content_parts`), or null for an assistant turn to be generated (or one with tool calls). At
    least one turn must be left to generate. A raw prompt is the only message.
    """
    if not isinstance(messages, list) or not messages:
        raise ValidationError("Enter at least one message, such as a user's question.")
    problems = [
        f"Message {number}: {problem}"
        for number, message in enumerate(messages, 1)
        if (problem := message_problem(message, ROLES))
    ]
    if not problems and len(messages) > 1 and RAW_PROMPT in {turn["role"] for turn in messages}:
        problems = ["A raw prompt is the only message: remove the others, or change its role."]
    if not problems and not turns_to_generate(messages):
        problems = ["Nothing is left to answer: end with a user message."]
    if problems:
        raise ValidationError(problems)


def raw_prompt_problems(messages: Any, tools: list[dict[str, Any]], context: str) -> dict[str, str]:
    """Return the problems of fields that a raw prompt is not sent with, by field."""
    if not isinstance(messages, list) or raw_prompt_of(messages) is None:
        return {}
    given = {"tools": tools, "context": context.strip()}
    titles = {"tools": "tools", "context": "documents"}
    return {
        name: f"A raw prompt is sent without {titles[name]}: write them into it, and clear these."
        for name, value in given.items()
        if value
    }


def request_messages(
    messages: list[Message], context: str, system_prompt: str = ""
) -> list[Message]:
    """Return a test's conversation as its candidate is sent it, turns to generate still empty.

    The documents come word for word, once, at the start of the first turn if it is the user's, and
    otherwise as a user message before it: no turn is generated without them. A system prompt stays
    ahead of them. A raw prompt stays as it is.

    Args:
        messages: The test's own, see `check_messages`.
        context: The test's documents; nothing is added for blank ones.
        system_prompt: The run's, put before the test's own; "" for none.
    """
    if raw_prompt_of(messages) is not None:
        return messages
    return with_system_prompt(_with_documents(messages, context), system_prompt)


def _with_documents(messages: list[Message], context: str) -> list[Message]:
    if not context.strip():
        return messages
    documents = DOCUMENTS.replace("{context}", context)
    start = int(bool(messages) and messages[0].get("role") == "system")
    before, turns = messages[:start], messages[start:]
    content = turns[0].get("content") if turns and turns[0].get("role") == "user" else None
    if content is not None:
        first = {**turns[0], "content": with_text_before(documents, content)}
        return [*before, first, *turns[1:]]
    return [*before, {"role": "user", "content": documents}, *turns]


def filled(messages: list[Message], turns: Sequence[AnswerTurn]) -> list[Message]:
    """Return the conversation with the first generated turns filled in.

    It ends before the first missing turn, so it is the model's next input. Results of tools that
    follow a generated turn get the ids of its calls, which no test can know.
    """
    holes = turns_to_generate(messages)
    open_ended = [*messages, {"role": "assistant"}] if len(messages) in holes else messages
    said = dict(zip(holes, turns, strict=False))
    end = holes[len(turns)] if len(turns) < len(holes) else len(open_ended)
    found: list[Message] = []
    ids: list[str] = []
    for position, message in enumerate(open_ended[:end]):
        if position in said:
            found.append(said[position].message())
            ids = [call["id"] for call in said[position].tool_calls if call.get("id")]
        elif message["role"] == "tool" and ids:
            found.append({**message, "tool_call_id": ids.pop(0)})
        else:
            found.append(message)
            ids = []
    return found
