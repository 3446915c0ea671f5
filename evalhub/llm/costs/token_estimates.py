"""Estimates of tokens before a call: from characters, and from the limit on its reply. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evalhub.limits import DEFAULT_ANSWER_TOKENS
from evalhub.llm.content.content_parts import content_text, image_parts
from evalhub.llm.endpoint import Endpoint

CHARS_PER_TOKEN = 4
EXTRA_TOKENS = 20
"""Estimate of what a provider adds to each request."""

IMAGE_CHARACTERS = 1000 * CHARS_PER_TOKEN
"""Estimate for an image; providers count from 85 to some thousand tokens."""


def tokens_in(texts: Iterable[str]) -> int:
    return tokens_of(sum(map(len, texts)))


def tokens_in_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    return tokens_of(characters_in(messages))


def characters_in(messages: Iterable[Mapping[str, Any]]) -> int:
    """Return a conversation's characters; an image counts as many as cost the same."""
    contents = [message.get("content") for message in messages]
    images = sum(len(image_parts(content)) for content in contents)
    return sum(len(content_text(each)) for each in contents) + IMAGE_CHARACTERS * images


def tokens_of(characters: int) -> int:
    return characters // CHARS_PER_TOKEN


MIN_SENT, MIN_READ = 2_000, 500
"""Tokens: of shorter prompts nothing is concluded, nor from counts that may leave out a cache."""
_RUNS = re.compile(r"(\s)\s+|(\S)\2{3,}")


def prompt_cut(
    messages: Iterable[Mapping[str, Any]], counted: int | None, written: int | None
) -> str:
    """Say how much of a prompt a server read, if it surely cut it without saying so; else "".

    Servers that cut a prompt to their context, as Ollama does, give it away by what they count:
    less than a third of the estimate, or markedly less where prompt and reply fill a context.
    """
    if counted is None or counted < MIN_READ:
        return ""
    texts = [content_text(message.get("content")) for message in messages]
    total = counted + (written or 0)
    is_full = total.bit_count() == 1
    if counted * (4 if is_full else 9) >= tokens_in(texts) * 3:
        return ""
    # White space and lines of one sign take few tokens.
    sent = tokens_in(_RUNS.sub(r"\1\2", text) for text in texts)
    if sent < MIN_SENT or counted * (4 if is_full else 9) >= sent * 3:
        return ""
    return f"the server read {counted:,} of about {sent:,} tokens of the prompt"


def token_limit(params: Mapping[str, object]) -> int | None:
    """Return the most tokens that a reply may have; None without a limit."""
    limits = [params.get(name) for name in ("max_tokens", "max_completion_tokens")]
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return min(known) if known else None


def estimate_usd(
    endpoint: Endpoint, messages: Iterable[Mapping[str, Any]], params: Mapping[str, Any]
) -> float:
    """Return a rough upper bound of a call's cost; 0 if prices are unknown."""
    limit = token_limit({**endpoint.params, **params}) or DEFAULT_ANSWER_TOKENS
    sent = tokens_in_messages(messages) + EXTRA_TOKENS
    return float(endpoint.cost_usd(sent, limit) or 0)
