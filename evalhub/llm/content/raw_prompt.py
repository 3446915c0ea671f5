"""A raw prompt: one text, sent as it is to a model's text-completion endpoint. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

RAW_PROMPT = "raw_prompt"
"""Role of a raw prompt, which is the only message of its request."""

NOT_WITH_RAW_PROMPT = {
    *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"),
    *("response_format", "prompt"),
}
"""Parameters that text-completion endpoints do not know, or that would replace the prompt."""

COMPLETIONS_NEEDED = (
    "A raw prompt needs a text-completion endpoint (POST …/completions), as vLLM, llama.cpp and "
    "Ollama have it: choose a model that is served there, or make the test a single prompt."
)


def raw_prompt_of(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text of a request that is a raw prompt; None for a conversation."""
    only = messages[0] if len(messages) == 1 else None
    is_raw = isinstance(only, Mapping) and only.get("role") == RAW_PROMPT
    return str(only["content"]) if only and is_raw else None
