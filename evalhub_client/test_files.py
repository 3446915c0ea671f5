"""Tests as files hold them: without what differs between sites or cannot be written. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalhub_client.errors import EvalHubError

READ_ONLY = ("id", "state", "origin", "author", "comments", "created_at", "updated_at")


def body_of(test: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test as it can be sent."""
    return {name: value for name, value in test.items() if name not in READ_ONLY}


def changes_of(test: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body that differ from those of a test."""
    changes = {
        name: value
        for name, value in body.items()
        if name not in READ_ONLY and not is_same(test.get(name), value)
    }
    if "criteria" in changes:
        changes["criteria"] = with_keys(test["criteria"], changes["criteria"])
    return changes


def with_keys(there: Sequence[Any], sent: Sequence[Any]) -> list[Any]:
    """Return criteria with the keys of those that are there in the same words, to keep them."""
    left = [one for one in there if one["key"] not in {other.get("key") for other in sent}]
    found = []
    for criterion in sent:
        kept = next((one for one in left if is_same(one, criterion)), None)
        if kept and "key" not in criterion:
            left.remove(kept)
            criterion = {**criterion, "key": kept["key"]}
        found.append(criterion)
    return found


def is_same(there: Any, sent: Any) -> bool:
    """Return whether a value is there already: of an object, only the fields sent count."""
    if isinstance(there, Mapping) and isinstance(sent, Mapping):
        return all(name in there and is_same(there[name], sent[name]) for name in sent)
    if isinstance(there, Sequence) and isinstance(sent, Sequence) and not isinstance(sent, str):
        return len(there) == len(sent) and all(map(is_same, there, sent))
    return bool(there == sent)


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
