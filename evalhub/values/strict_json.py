"""JSON of others, and remarks on it. Pure."""

import json
from math import isfinite
from typing import Any, NamedTuple, NoReturn

MAX_EXCERPT = 60
MAX_DEPTH = 50
"""Levels of lists and objects; more would stop some page or library that reads them again."""


class Problem(NamedTuple):
    """A problem at a place of a file, such as `issue.json[3].title`."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def parse(text: str, **options: Any) -> Any:
    """Parse JSON; `options` are those of `json.loads`.

    Raises:
        ValueError: It is not JSON, or has NaN or a number that no float can hold.
        RecursionError: It is nested too deeply, over `MAX_DEPTH` levels.
    """
    value = json.loads(text, parse_constant=_refuse, parse_float=_finite, **options)
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise RecursionError if a JSON value is nested over `MAX_DEPTH` levels."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        holders = [one for one in level if isinstance(one, list | dict)]
        if not holders:
            return
        level = [
            part for one in holders for part in (one.values() if isinstance(one, dict) else one)
        ]
    raise RecursionError(f"nested over {MAX_DEPTH} levels")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:MAX_EXCERPT]} is too large a number")
    return number


def excerpt(value: Any, most: int = MAX_EXCERPT) -> str:
    """Return a JSON value for a message: its beginning, on one line."""
    text = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()
    return text if len(text) <= most else f"{text[:most]}…"
