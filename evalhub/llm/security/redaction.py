"""Hiding keys in what providers say, before it is stored or shown."""

import json
import re
from collections.abc import Iterable

HIDDEN = "[key hidden]"
SHORTEST_KEY = 6
"""A shorter one, such as "none", is no secret, and occurs in many words."""

KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.-]{6,}"
    r"|\bAIza[\w-]{20,}"
    r"|(?<=Bearer )[\w.~+/-]{6,}=*"
)


def redact(text: str, *keys: str) -> str:
    """Hide the keys in a text, and anything else that looks like a key."""
    return KEY_LIKE.sub(HIDDEN, hidden(text, keys))


def hidden(text: str, keys: Iterable[str]) -> str:
    """Hide these keys in a text, also as JSON writes them."""
    for key in keys:
        if len(key) >= SHORTEST_KEY:
            text = text.replace(key, HIDDEN).replace(json.dumps(key)[1:-1], HIDDEN)
    return text
