"""The outcome of a reviewed result by its judges and by its annotators. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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


@dataclass(frozen=True)
class Reviews:
    """Reviewed results, the last reviewed first."""

    rows: tuple[Review, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def overturned(self) -> int:
        return sum(row.is_overturned for row in self.rows)

    @cached_property
    def confirmed(self) -> int:
        return sum(row.is_confirmed for row in self.rows)

    @property
    def others(self) -> int:
        """Results that judges did not score, or on which annotators disagree."""
        return len(self) - self.overturned - self.confirmed

    @cached_property
    def steps(self) -> Counter[str]:
        return Counter(row.step for row in self.rows)

    def of_runs(self, runs: Iterable[int]) -> "Reviews":
        wanted = set(runs)
        return Reviews(tuple(row for row in self.rows if row.run in wanted))

    def matching(self, choice: str) -> list[Review]:
        return [row for row in self.rows if row.matches(choice)]

    @property
    def parts(self) -> str:
        """The parts in words, such as "28 confirmed, 4 overturned"."""
        others = f", {self.others:,} without an outcome on one side" if self.others else ""
        return f"{self.confirmed:,} confirmed, {self.overturned:,} overturned{others}"

    @property
    def sentence(self) -> str:
        if not self.rows:
            return "No annotator has reviewed a result."
        return f"{counted(len(self), 'result')} reviewed by annotators: {self.parts}."
