"""Figures, tests and answers of a set of runs for an analyst, before anonymization."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.summaries.figure_table import FigureCell, FigureTable, Place
from reports.summaries.key import Variant


@dataclass(frozen=True)
class Group:
    """All tests or those of a tag, and each variant's figures on them, in the key's order."""

    id: str
    title: str
    cells: Sequence[FigureCell]


@dataclass(frozen=True)
class VariantAnswer:
    """A variant's answer to one test, over all repeats and runs.

    `text` is one of the answers; "" and a `failure` where there was none. `score` is their mean.
    """

    variant: Variant
    text: str
    score: float | None
    passed: int
    scored: int
    failure: str = ""


@dataclass(frozen=True)
class Case:
    """A test: its prompt, its criteria, and each variant's answer."""

    test: int
    issue: str
    tags: Sequence[str]
    prompt: str
    looked_for: Sequence[str]
    reference: str
    answers: Sequence[VariantAnswer]


@dataclass(frozen=True)
class Overview:
    """The figures by group, all tests first. `tests` counts them, `sealed` those without text."""

    suite: str
    tests: int
    sealed: int
    variants: Sequence[Variant]
    groups: Sequence[Group]

    def table(self) -> FigureTable:
        """Return the cells that claims may name."""
        return FigureTable(
            {
                Place(row, group.id): cell
                for group in self.groups
                for row, cell in enumerate(group.cells)
            }
        )

    def titles(self) -> dict[str, str]:
        return {group.id: group.title for group in self.groups}
