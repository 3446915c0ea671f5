"""The table of figures that an analyst reads, and the cells that its claims name. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from evalhub.statistics.interval import Interval
from runs.completeness import is_enough

ALL_TESTS = "G_1"
"""The group of all tests; those of tags follow."""


class Measure(StrEnum):
    """The columns of the table, and the difference of two pass rates."""

    PASS_RATE = "pass_rate"
    PASSED = "passed"
    SCORED = "scored"
    MEAN_SCORE = "mean_score"
    ERRORS = "errors"
    UNSCORED = "unscored"
    DIFFERENCE = "difference"


class Place(NamedTuple):
    """A cell's row and group: the position of its variant in the key, and the group's id."""

    variant: int
    group: str


@dataclass(frozen=True)
class FigureCell:
    """A variant's figures on a group of tests. Errors and unscored results are in no rate.

    Attributes:
        score: The weighted mean score, in [0, 1]; None: nothing was scored.
        interval: The 95 % interval of the pass rate, in [0, 1]; None without scored results.
        method: Of the interval; "" without one.
    """

    passed: int
    scored: int
    score: float | None
    errors: int = 0
    unscored: int = 0
    interval: Interval | None = None
    method: str = ""

    @property
    def share(self) -> float | None:
        """The pass rate, in [0, 1]; None without scored results."""
        return self.passed / self.scored if self.scored else None

    @property
    def total(self) -> int:
        return self.scored + self.errors + self.unscored

    @property
    def is_enough(self) -> bool:
        """Enough is scored to compare the pass rate with another."""
        return is_enough(self.scored, self.total)

    def figure(self, measure: Measure) -> float | None:
        """Return the figure as the table has it, pass rates in percent; None: not measured."""
        figures = {
            Measure.PASS_RATE: None if self.share is None else 100 * self.share,
            Measure.PASSED: self.passed,
            Measure.SCORED: self.scored,
            Measure.MEAN_SCORE: self.score,
            Measure.ERRORS: self.errors,
            Measure.UNSCORED: self.unscored,
        }
        return figures[measure]


@dataclass(frozen=True)
class FigureTable:
    """The cells that were sent."""

    cells: Mapping[Place, FigureCell]

    def get(self, place: Place) -> FigureCell | None:
        return self.cells.get(place)

    @property
    def comparisons(self) -> int:
        """The pairs of variants in one group: as many differences can be claimed."""
        by_group: dict[str, int] = {}
        for place in self.cells:
            by_group[place.group] = by_group.get(place.group, 0) + 1
        return sum(n * (n - 1) // 2 for n in by_group.values())

    def to_json(self) -> dict[str, Any]:
        return {"cells": [[*place, asdict(cell)] for place, cell in self.cells.items()]}

    @classmethod
    def from_json(cls, stored: Any) -> "FigureTable":
        """Restore the table from `to_json`; anything else gives one without cells."""
        cells: Sequence[Any] = stored.get("cells", ()) if isinstance(stored, dict) else ()
        return cls(
            {
                Place(variant, group): FigureCell(
                    **{**cell, "interval": cell["interval"] and Interval(*cell["interval"])}
                )
                for variant, group, cell in cells
            }
        )


def printed(figure: float, measure: Measure) -> str:
    """Return a figure as texts and tables show it, with its unit."""
    if measure == Measure.PASS_RATE:
        return f"{figure:.1f} %"
    if measure == Measure.DIFFERENCE:
        return f"{figure:+.1f} points".replace("-", "\u2212")
    return f"{figure:.2f}" if measure == Measure.MEAN_SCORE else f"{figure:,.0f}"
