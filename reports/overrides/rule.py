"""The outcome of a reviewed result by its judges and by its annotators. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

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
        if choice == OVERTURNED:
            return self.is_overturned
        if choice == CONFIRMED:
            return self.is_confirmed
        return choice in (ALL, self.step)


def step(judges: str, humans: str) -> str:
    return f"{judges}-{humans}"


class Reviews(Sequence[Review]):
    """Reviewed results, the last reviewed first."""

    def __init__(self, reviews: Iterable[Review] = ()) -> None:
        self.reviews = list(reviews)

    def __len__(self) -> int:
        return len(self.reviews)

    @overload
    def __getitem__(self, place: int) -> Review: ...
    @overload
    def __getitem__(self, place: slice) -> list[Review]: ...
    def __getitem__(self, place: Any) -> Any:
        return self.reviews[place]

    @cached_property
    def overturned(self) -> int:
        return sum(one.is_overturned for one in self.reviews)

    @cached_property
    def confirmed(self) -> int:
        return sum(one.is_confirmed for one in self.reviews)

    @property
    def others(self) -> int:
        """Results that judges did not score, or on which annotators disagree."""
        return len(self) - self.overturned - self.confirmed

    @cached_property
    def steps(self) -> Counter[str]:
        return Counter(one.step for one in self.reviews)

    def of_runs(self, runs: Iterable[int]) -> "Reviews":
        wanted = set(runs)
        return Reviews(one for one in self.reviews if one.run in wanted)

    def matching(self, choice: str) -> "Reviews":
        return Reviews(one for one in self.reviews if one.matches(choice))

    @property
    def parts(self) -> str:
        """The parts in words, such as "28 confirmed, 4 overturned"."""
        others = f", {self.others:,} disputed or not scored by judges" if self.others else ""
        return f"{self.confirmed:,} confirmed, {self.overturned:,} overturned{others}"

    @property
    def sentence(self) -> str:
        if not self:
            return "No annotator has reviewed a result."
        return f"{counted(len(self), 'result')} reviewed by annotators: {self.parts}."
