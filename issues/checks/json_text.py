"""JSON in texts: parsed strictly, compared by JSON's rules."""

import json
from collections.abc import Hashable
from typing import Any, NoReturn

from issues.checks.code_blocks import code_blocks

MAX_DIGITS = 300


def parsed(text: str) -> Any:
    """Parse a text as JSON.

    Raises:
        ValueError: The text is not JSON (NaN and Infinity are not).
        RecursionError: It is nested too deeply.
    """
    return json.loads(text, parse_constant=_refused, parse_int=_whole)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def document(text: str) -> Any:
    """Parse the whole text, else its only code block.

    Raises:
        ValueError: Neither is JSON.
    """
    try:
        return parsed(text)
    except ValueError:
        blocks = list(code_blocks(text))
        if len(blocks) != 1:
            raise
        return parsed(blocks[0].code)


def frozen(value: Any) -> Hashable:
    """Compare JSON values: 1 equals 1.0 but not true, and the order of keys does not matter."""
    if isinstance(value, dict):
        return "object", frozenset((name, frozen(item)) for name, item in value.items())
    if isinstance(value, list):
        return "list", tuple(frozen(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false", None
    return "single", value


def alike(left: Any, right: Any) -> bool:
    return frozen(left) == frozen(right)
