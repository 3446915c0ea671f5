"""Hiding keys in what providers say, before it is stored or shown."""

import re

HIDDEN = "[key hidden]"
SHORTEST_KEY = 6
"""A shorter one, such as "none", is no secret, and occurs in many words."""

KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*.-]{6,}"
    r"|\bAIza[\w-]{20,}"
    r"|(?<=Bearer )[\w.~+/-]{6,}=*"
)


def redact(text: str, key: str = "") -> str:
    """Hide the key in a text, and anything else that looks like a key."""
    if len(key) >= SHORTEST_KEY:
        text = text.replace(key, HIDDEN)
    return KEY_LIKE.sub(HIDDEN, text)
