"""JSON of others, and remarks on it. Pure."""

import json
from math import isfinite
from typing import Any, NamedTuple, NoReturn

MAX_EXCERPT = 60


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
        RecursionError: It is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_finite, **options)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:MAX_EXCERPT]} is too large a number")
    return number


def excerpt(value: Any) -> str:
    """Return a JSON value for a message: its beginning, on one line."""
    text = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}…"
