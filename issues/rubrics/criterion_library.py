"""The criteria that every ledger offers to be copied into a rubric. More shown is always better."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "library" / "criteria.json"


@dataclass(frozen=True)
class LibraryCriterion:
    """A ready criterion: what judges look for, why, and an answer that shows it and one not.

    One with a `check` is decided by it, without a judge.
    """

    key: str
    text: str
    why: str
    met: str
    unmet: str
    check: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What is copied, in the names of a revision's content."""
        return {"text": self.text, "check": self.check, "arguments": self.arguments}


@dataclass(frozen=True)
class LibrarySection:
    """Ready criteria of one kind."""

    title: str
    criteria: tuple[LibraryCriterion, ...]


@cache
def sections() -> tuple[LibrarySection, ...]:
    """The whole library, by kind."""
    data = json.loads(SOURCE.read_text(encoding="utf-8"))
    return tuple(
        LibrarySection(
            shelf["title"], tuple(LibraryCriterion(**criterion) for criterion in shelf["criteria"])
        )
        for shelf in data
    )


def chosen(keys: list[str]) -> list[LibraryCriterion]:
    """The ready criteria of these keys, in the library's order; unknown keys are left out."""
    return [ready for shelf in sections() for ready in shelf.criteria if ready.key in keys]
