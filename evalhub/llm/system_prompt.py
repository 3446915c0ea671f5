"""A system prompt put before a conversation. Pure."""

from typing import Any

from evalhub.llm.content.content_parts import with_text_before

Message = dict[str, Any]


def with_system_prompt(messages: list[Message], system_prompt: str) -> list[Message]:
    """Return the conversation with a system prompt before its own.

    Many models accept only one system message, so the two are joined.
    """
    if not system_prompt or not messages:
        return messages
    if messages[0].get("role") != "system":
        return [{"role": "system", "content": system_prompt}, *messages]
    joined = with_text_before(system_prompt, messages[0]["content"])
    return [{**messages[0], "content": joined}, *messages[1:]]
