"""Estimates of tokens before a call: from characters, and from the limit on its reply. Pure."""

from collections.abc import Iterable, Mapping

CHARS_PER_TOKEN = 4

DEFAULT_ANSWER_TOKENS = 1000
"""Estimate for a reply without a token limit, and the limit of one to a raw prompt."""


def tokens_in(texts: Iterable[str]) -> int:
    return tokens_of(sum(map(len, texts)))


def tokens_of(characters: int) -> int:
    return characters // CHARS_PER_TOKEN


def token_limit(params: Mapping[str, object]) -> int | None:
    """Return the most tokens that a reply may have; None without a limit."""
    limits = [params.get(name) for name in ("max_tokens", "max_completion_tokens")]
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return min(known) if known else None
