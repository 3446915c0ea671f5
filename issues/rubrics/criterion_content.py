"""What a criterion holds, declared once. Pure.

The column of a field in `issues.models.criterion.CriterionFields` has its type, limits and help.
From these names are made: the form, the API's fields, exports and bulk rows, revisions with their
digests and frozen criteria, copies, sealing, the workbench, and the records of imports.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SHOULD, SHOULD_NOT = "should", "should_not"


@dataclass(frozen=True)
class CriterionContent:
    """A criterion without its key. Judges score `text`, or `check` tests it with `arguments`.

    `alternative` numbers the alternatives of its polarity; None: required. Beside a check, `text`
    is only its label.
    """

    text: str = ""
    polarity: str = SHOULD
    weight: float = 1
    alternative: int | None = None
    mandatory: bool = False
    check: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    citation: str = ""


FIELDS = tuple(field.name for field in fields(CriterionContent))
CONTENT = ("key", *FIELDS)
SEALED = ("text", "arguments", "citation")
ORIGIN = ("library_key", "library_version")
"""Which library criterion it was copied from; an edit keeps it."""

COLUMNS = {"check": "check_name"}
"""Columns of another name: Django's models have a `check` of their own."""


def content_of(row: Any, names: Iterable[str] = CONTENT) -> dict[str, Any]:
    return {name: getattr(row, COLUMNS.get(name, name)) for name in names}


def columns_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content by columns; what is none, such as a workbench's target, is left out."""
    return {COLUMNS.get(n, n): content[n] for n in (*CONTENT, *ORIGIN) if n in content}
