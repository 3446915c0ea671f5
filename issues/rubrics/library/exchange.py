"""Import of library criteria from JSON, as the export and the API write them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.access.models import User
from evalhub.refusals import Refused
from evalhub.values.strict_json import Problem, parse
from issues.limits import MAX_LIBRARY_CHARACTERS, MAX_LIBRARY_CRITERIA
from issues.models import LibraryCriterion
from issues.models.library import CONTENT, set_content
from issues.rubrics.library.entries import add, update_from

IGNORED = {
    *("id", "version", "state", "author", "is_builtin", "is_changed", "tests"),
    *("created_at", "updated_at"),
}
"""Fields of the export that an import does not set."""
REASON = "Imported"


class ImportRefused(ValueError):
    """A file of which nothing was saved; `problems` has each with its place."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def import_criteria(text: str, *, by: User) -> Counter[str]:
    """Add the criteria of a JSON list; one with a known key gets a new version if it differs.

    Returns:
        How many were "added", "changed" and "unchanged".

    Raises:
        ImportRefused: Anything in it is wrong; nothing is saved then.
    """
    rows = _rows_in(text)
    done: Counter[str] = Counter()
    problems: list[Problem] = []
    with transaction.atomic():
        for place, row in enumerate(rows, 1):
            found = list(_shape_problems(row))
            try:
                if not found:
                    done[_take(row, by)] += 1
            except ValidationError as error:
                found = _sentences(error)
            except Refused as error:
                found = error.problems
            problems += [Problem(_place(place, row), line) for line in found]
        if problems:
            raise ImportRefused(problems)
    return done


def _rows_in(text: str) -> list[Any]:
    if len(text) > MAX_LIBRARY_CHARACTERS:
        raise ImportRefused([_whole(f"It is longer than {MAX_LIBRARY_CHARACTERS:,} characters.")])
    try:
        rows = parse(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused([_whole(f"This is not JSON: {error}.")]) from error
    rows = [rows] if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or not rows:
        raise ImportRefused([_whole("Send a JSON list of criteria, as the download has it.")])
    if len(rows) > MAX_LIBRARY_CRITERIA:
        raise ImportRefused(
            [_whole(f"It has {len(rows)} criteria; at most {MAX_LIBRARY_CRITERIA} go.")]
        )
    return rows


def _whole(message: str) -> Problem:
    return Problem("File", message)


def _place(place: int, row: Any) -> str:
    key = row.get("key") if isinstance(row, Mapping) else None
    return f"Criterion {place} ({key})" if isinstance(key, str) and key else f"Criterion {place}"


def _shape_problems(row: Any) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield f"It is not an object: {str(row)[:60]!r}."
        return
    known = {"key", *CONTENT, *IGNORED}
    for unknown in sorted(set(row) - known):
        yield f"Unknown field {unknown!r}. Available: key, {', '.join(CONTENT)}."
    for missing in ("name", "shelf", "question"):
        if missing not in row:
            yield f"“{missing}” is missing."


def _take(row: Mapping[str, Any], by: User) -> str:
    content = {name: row[name] for name in CONTENT if name in row}
    key = row.get("key") or ""
    known = LibraryCriterion.objects.filter(key=str(key)).first() if key else None
    if known is None:
        new = LibraryCriterion(key=key)
        unscaled = {"scale": None} if content.get("kind") == "pairwise" else {}
        set_content(new, unscaled | content)
        add(new, by=by, reason=REASON)
        return "added"
    return "changed" if update_from(known, content, by=by, why=REASON) else "unchanged"


def _sentences(error: ValidationError) -> list[str]:
    if not hasattr(error, "error_dict"):
        return list(error.messages)
    lines = error.message_dict.items()
    return [f"{name}: {line}" for name, found in lines for line in found]
