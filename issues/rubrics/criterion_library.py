"""Library of ready criteria to copy into a rubric. A higher value is always better."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "library" / "criteria.json"


@dataclass(frozen=True)
class LibraryCriterion:
    """A ready criterion with its reason, a matching and a failing answer.

    If it has a `check`, no judge is needed.
    """

    key: str
    text: str
    why: str
    met: str
    unmet: str
    check: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields to copy, by their names in a revision's content."""
        return {"text": self.text, "check": self.check, "arguments": self.arguments}


@dataclass(frozen=True)
class LibrarySection:
    """Ready criteria of one kind."""

    title: str
    criteria: tuple[LibraryCriterion, ...]


@cache
def sections() -> tuple[LibrarySection, ...]:
    """Return the whole library, by kind."""
    data = json.loads(SOURCE.read_text(encoding="utf-8"))
    return tuple(
        LibrarySection(
            shelf["title"], tuple(LibraryCriterion(**criterion) for criterion in shelf["criteria"])
        )
        for shelf in data
    )


def chosen(keys: list[str]) -> list[LibraryCriterion]:
    """Return the criteria with these keys, in the library's order; unknown keys are ignored."""
    return [ready for shelf in sections() for ready in shelf.criteria if ready.key in keys]
