"""The outcome of a pair, from a judge's choices in both orders and those of people. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from issues.judge_templates.pairwise_prompt import Choice, Decision, decided

SCORES = {Choice.FIRST: 1.0, Choice.TIE: 0.5, Choice.SECOND: 0.0}


class PairOutcome(NamedTuple):
    """The choices of judge and annotators on a pair, in terms of its first and second answer.

    Attributes:
        judge: The judge's choice by both orders; None: not asked, pending, or failed.
        is_failed: The judge gave no readable choice in one order at least.
        people: The choice of all annotators; None: nobody chose, or they differ.
        is_disputed: They differ.
        has_own_criterion: The judge was asked by a criterion of its own and not by the test's, as
            annotators are: their choice neither overrides nor checks it.
    """

    judge: Decision | None
    is_failed: bool
    people: Choice | None
    is_disputed: bool
    has_own_criterion: bool = False

    @property
    def choice(self) -> Choice | None:
        """Return the choice that counts: of annotators, else of the judge; None: unscored."""
        if self.has_own_criterion:
            return self.judge.choice if self.judge else None
        if self.is_disputed:
            return None
        return self.people or (self.judge.choice if self.judge else None)

    @property
    def is_overridden(self) -> bool:
        return not self.has_own_criterion and self.people is not None

    @property
    def agrees(self) -> bool | None:
        """Return whether the judge chose as annotators did; None: not both chose."""
        if self.has_own_criterion or self.judge is None or self.people is None:
            return None
        return self.judge.choice == self.people

    @property
    def score(self) -> float | None:
        """1 if the first answer is better, 0.5 if they are equal, 0 if the second is."""
        return None if self.choice is None else SCORES[self.choice]


class OrderedChoice(NamedTuple):
    """A judge's choice in one order; `choice` None: pending or failed."""

    order: int
    choice: Choice | None
    is_failed: bool


def outcome_of(
    judged: Iterable[OrderedChoice], people: Sequence[Choice], *, own_criterion: bool = False
) -> PairOutcome:
    """Return the outcome of a pair.

    Args:
        judged: Of one judge run, at most one for each order.
        people: The active choice of each annotator.
        own_criterion: The judge was asked by another criterion than people are.
    """
    by_order = {one.order: one for one in judged}
    given, turned = (by_order[order].choice if order in by_order else None for order in (0, 1))
    decision = decided(given, turned.turned() if turned else None)
    return PairOutcome(
        judge=decision,
        is_failed=any(one.is_failed for one in by_order.values()),
        people=people[0] if len(set(people)) == 1 else None,
        is_disputed=len(set(people)) > 1,
        has_own_criterion=own_criterion,
    )
