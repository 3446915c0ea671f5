"""Text that a database can keep. Pure."""

import re
from collections.abc import Iterator
from typing import Any

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL keeps no NUL, and no half of a surrogate pair can be written as UTF-8."""

REASON = "has a character that cannot be stored (NUL, or half of a surrogate pair)."


def unstorable(value: Any, place: str = "") -> list[str]:
    """Where in a JSON value such text stands, such as `issue.json[3].title`."""
    return [where for where, text in _strings(value, place) if UNSTORABLE.search(text)]


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value, keys too, with where it stands."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _strings(item, f"{place}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield place, key
            yield from _strings(item, f"{place}.{key}" if place else key)
