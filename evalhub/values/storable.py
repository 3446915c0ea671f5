"""Text that databases refuse. Pure."""

import re
from collections.abc import Iterator
from typing import Any

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL stores no NUL, and a lone surrogate cannot be encoded as UTF-8."""

REASON = "has a character that cannot be stored (NUL or a lone surrogate)."


def storable(text: str) -> str:
    """Replace characters that databases refuse by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def unstorable(value: Any, place: str = "") -> list[str]:
    """Return the places of such text in a JSON value, such as `issue.json[3].title`."""
    return [where for where, text in _strings(value, place) if UNSTORABLE.search(text)]


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every string in a JSON value, keys included, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings(item, f"{place}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield place, key
            yield from _strings(item, f"{place}.{key}" if place else key)
