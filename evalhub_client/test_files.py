"""Tests as files hold them: without what differs between sites or cannot be written. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from evalhub_client.errors import EvalHubError

READ_ONLY = ("id", "state", "origin", "author", "comments", "created_at", "updated_at")


def body_of(test: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test as it can be sent."""
    return {name: value for name, value in test.items() if name not in READ_ONLY}


def rows_in(text: str) -> list[dict[str, Any]]:
    """Return the objects of a file: JSON lines, or a JSON list.

    Raises:
        EvalHubError: Names each line that is none.
    """
    if text.lstrip().startswith("["):
        rows = enumerate(_parsed(text, "The file"), 1)
    else:
        lines = ((n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip())
        rows = ((n, _parsed(line, f"Line {n}")) for n, line in lines)  # type: ignore[assignment]
    found = list(rows)
    wrong = [n for n, row in found if not isinstance(row, dict)]
    if wrong:
        raise EvalHubError(f"Line {wrong[0]} is no JSON object.")
    return [row for _, row in found]


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise EvalHubError(f"{place} is no JSON: {error}.") from None
