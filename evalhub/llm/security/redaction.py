"""Hiding keys in what providers say, before it is stored or shown."""

import json
import re
from collections.abc import Iterable

HIDDEN = "[key hidden]"
SHORTEST_KEY = 6
"""A shorter one, such as "none", is no secret, and occurs in many words."""

PREFIXES = ("sk", "pk", "rk", "gsk", "xai", "hf", "nvapi")
KEY_LIKE = re.compile(
    rf"\b(?:{'|'.join(PREFIXES)})[-_][\w*.-]{{6,}}"
    r"|\bAIza[\w-]{20,}"
    r"|(?<=Bearer )[\w.~+/-]{6,}=*"
)
SIGNS = (*(prefix + end for prefix in PREFIXES for end in "-_"), "AIza", "Bearer ")
"""One of these is in all that is like a key, and they are found faster."""


def redact(text: str, *keys: str) -> str:
    """Hide the keys in a text, and anything else that looks like a key."""
    text = hidden(text, keys)
    return KEY_LIKE.sub(HIDDEN, text) if any(sign in text for sign in SIGNS) else text


def hidden(text: str, keys: Iterable[str]) -> str:
    """Hide these keys in a text, also as JSON writes them."""
    for key in keys:
        if len(key) >= SHORTEST_KEY:
            text = text.replace(key, HIDDEN).replace(json.dumps(key)[1:-1], HIDDEN)
    return text
