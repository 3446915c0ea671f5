"""Comparisons of unchanged runs of which people review one.

The model: 200 tests in 20 issues, 80 % of which the same answers pass in both runs. Three judges
pass 88 % of right answers and 20 % of wrong ones; people do not err. What people review is shown
with a single result and in no comparison: it compares judges with judges. The former rule put a
review in the place of the judges' outcome.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.conclusion import Word, conclude
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import FORMER, SLOW, TESTS, Ints, issues_of, pairs_of

Chosen = NDArray[np.bool_]


class Judged(NamedTuple):
    """Verdicts of one judge of each run, the votes on the new run, and what chance draws."""

    old: Ints
    new: Ints
    votes: Ints
    rng: np.random.Generator


def _none(judged: Judged) -> Chosen:
    return np.zeros(TESTS, dtype=bool)


def _sample(judged: Judged) -> Chosen:
    return judged.rng.random(TESTS) < 0.2


Choice = Callable[[Judged], Chosen]
REVIEWED: dict[str, tuple[Choice, Choice]] = {
    "answers that changed": (_none, lambda judged: judged.old != judged.new),
    "failed answers": (_none, lambda judged: judged.new == 0),
    "answers on which judges are split": (
        _none,
        lambda judged: (judged.votes > 0) & (judged.votes < 3),
    ),
    "a fifth of the new run": (_none, _sample),
    "a fifth of both": (_sample, _sample),
}
"""Answers of the old run and of the new one that people review."""


def judged_runs(rng: np.random.Generator) -> tuple[Ints, Judged]:
    """Return which answers are right, and how they are judged."""
    right = (rng.random(TESTS) < 0.8).astype(np.int64)
    chances = np.where(right == 1, 0.88, 0.2)
    old, new = ((rng.random((3, TESTS)) < chances).astype(np.int64) for _ in range(2))
    return right, Judged(old[0], new[0], new.sum(axis=0), rng)


def better(draws: int, *, reviewed: tuple[Choice, Choice] | None = None) -> float:
    """Return the share of unchanged pairs called better.

    Args:
        reviewed: The former rule: a review takes the place of the judges' outcome.
    """
    rng, issues, found = np.random.default_rng(3), issues_of(20, equal=True), 0
    for _ in range(draws):
        right, judged = judged_runs(rng)
        sides = [judged.old, judged.new]
        if reviewed:
            sides = [
                np.where(choice(judged), right, side)
                for choice, side in zip(reviewed, sides, strict=True)
            ]
        found += conclude(pairs_of(sides[1] - sides[0], issues)).word == Word.BETTER
    return found / draws


def checks() -> Iterator[Check]:
    name = "better without a change, whatever people review"
    yield Check(name, 0.0, 0.05, one_in(SLOW, better))
    for which, reviewed in REVIEWED.items():
        measure = one_in(SLOW, partial(better, reviewed=reviewed))
        yield Check(f"the same, reviews in place of judges: {which}", 0.0, 0.05, measure, FORMER)
