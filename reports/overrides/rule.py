"""The outcome of a reviewed result by its judges and by its annotators. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from evalhub.display.formatting import counted

OUTCOME_OF = {True: "passed", False: "failed", None: "unscored"}
"""An outcome by whether it passes."""

OVERTURNED, CONFIRMED, ALL = "overturned", "confirmed", "all"


class Review(NamedTuple):
    """A result that annotators reviewed.

    `judges` and `humans` tell whether it passes by the active judge run alone, and with the
    annotators' verdicts. None: unscored, such as a failed judgment, or annotators that disagree.
    """

    result: int
    run: int
    judges: bool | None
    humans: bool | None

    @property
    def is_overturned(self) -> bool:
        """Judges and annotators come to opposite outcomes."""
        return None not in (self.judges, self.humans) and self.judges != self.humans

    @property
    def is_confirmed(self) -> bool:
        return self.judges is not None and self.judges == self.humans

    @property
    def step(self) -> str:
        """From what to what, such as "failed-passed"."""
        return step(OUTCOME_OF[self.judges], OUTCOME_OF[self.humans])

    def matches(self, choice: str) -> bool:
        """Tell whether the review is one of `OVERTURNED`, `CONFIRMED`, `ALL` or of this step."""
        kinds = {OVERTURNED: self.is_overturned, CONFIRMED: self.is_confirmed, ALL: True}
        return kinds.get(choice, self.step == choice)


def step(judges: str, humans: str) -> str:
    return f"{judges}-{humans}"


SIDES = (False, True, None)
"""What judges or annotators can come to; `Reviews` holds the places of these."""


class Reviews(Sequence[Review]):
    """Reviewed results, the last reviewed first, held as columns: a site has very many.

    Args:
        rows: Shape (n, 4): result, run, and the places in `SIDES` of the judges and the annotators.
    """

    def __init__(self, rows: NDArray[np.int64] | None = None) -> None:
        self.table = np.empty((0, 4), np.int64) if rows is None else rows

    @classmethod
    def of(cls, reviews: Iterable[Review]) -> Self:
        rows = [(*one[:2], SIDES.index(one.judges), SIDES.index(one.humans)) for one in reviews]
        return cls(np.array(rows, np.int64).reshape(-1, 4))

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, place: int) -> Review: ...
    @overload
    def __getitem__(self, place: slice) -> list[Review]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [_review(*row) for row in self.table[place].tolist()]
        return _review(*self.table[place].tolist())

    @cached_property
    def _steps(self) -> NDArray[np.int64]:
        """The number of the step of each: that of the judges × 3 and that of the annotators."""
        return self.table[:, 2] * len(SIDES) + self.table[:, 3]

    @cached_property
    def overturned(self) -> int:
        return len(self.matching(OVERTURNED))

    @cached_property
    def confirmed(self) -> int:
        return len(self.matching(CONFIRMED))

    @property
    def others(self) -> int:
        """Results that judges did not score, or on which annotators disagree."""
        return len(self) - self.overturned - self.confirmed

    @cached_property
    def steps(self) -> Counter[str]:
        counts = np.bincount(self._steps, minlength=len(STEPS)).tolist()
        return +Counter(dict(zip([one.step for one in STEPS], counts, strict=True)))

    def of_runs(self, runs: Iterable[int]) -> "Reviews":
        return Reviews(self.table[np.isin(self.table[:, 1], list(runs))])

    def matching(self, choice: str) -> "Reviews":
        fits = np.array([one.matches(choice) for one in STEPS])
        return Reviews(self.table[fits[self._steps]])

    def among(self, results: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell of each of these results whether it is one of the reviewed ones."""
        return np.isin(results, self.table[:, 0])

    @property
    def parts(self) -> str:
        """The parts in words, such as "28 confirmed, 4 overturned"."""
        others = f", {self.others:,} without an outcome on one side" if self.others else ""
        return f"{self.confirmed:,} confirmed, {self.overturned:,} overturned{others}"

    @property
    def sentence(self) -> str:
        if not self:
            return "No annotator has reviewed a result."
        return f"{counted(len(self), 'result')} reviewed by annotators: {self.parts}."


def _review(result: int, run: int, judges: int, humans: int) -> Review:
    return Review(result, run, SIDES[judges], SIDES[humans])


STEPS = [_review(0, 0, judges, humans) for judges in range(3) for humans in range(3)]
"""A review of each step, in the order of their numbers."""
