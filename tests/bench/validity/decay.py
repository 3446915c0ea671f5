"""How often a slow slide over releases is found, and one is where there is none.

The model: 20 releases. Each test has a place between 0 and 1 for good, and passes a release whose
rate is above it; in each release a share of the tests has another place, drawn anew.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.conclusion import Pair, conclude
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.changes.slow_decay import LEVEL_OF_LOOKS, Slope, slow_change
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import FORMER, WHOLE

RELEASES = 20
SLOW = 50
"""One history in so many draws: each has 19 comparisons."""

World = tuple[float, float, float]
"""Rates of the first and of the last release, and the share of answers drawn anew."""

SLIDE, STEADY = (0.95, 0.67, 0.15), (0.7, 0.7, 1.0)
Passed = NDArray[np.int64]


def history(tests: int, first: float, last: float, anew: float, rng: np.random.Generator) -> Passed:
    """Return which tests passed in each release, shape (releases, tests)."""
    places, rates = rng.random(tests), np.linspace(first, last, RELEASES)
    drawn = rng.random((RELEASES, tests)) < anew
    shown = np.where(drawn, rng.random((RELEASES, tests)), places)
    return (shown < rates[:, np.newaxis]).astype(np.int64)


def is_loss(old: Passed, new: Passed, issues: list[int], level: float) -> bool:
    sides = zip(issues, old.tolist(), new.tolist(), strict=True)
    pairs = (Pair(issue, WHOLE[a], WHOLE[b]) for issue, a, b in sides)
    return conclude(pairs, level=level).word.is_loss


def by_previous(passed: Passed, issues: list[int]) -> int | None:
    """The former rule: each release against the one before."""
    looks = enumerate(pairwise(passed), 2)
    return next((n for n, pair in looks if is_loss(*pair, issues, LEVEL)), None)


def by_reference(passed: Passed, issues: list[int]) -> int | None:
    looks = enumerate(passed[1:], 2)
    return next((n for n, row in looks if is_loss(passed[0], row, issues, LEVEL_OF_LOOKS)), None)


def by_trend(passed: Passed, issues: list[int]) -> int | None:
    for releases in range(3, RELEASES + 1):
        outcomes = [[WHOLE[one] for one in row] for row in passed[:releases].T.tolist()]
        found = slow_change(outcomes, issues)
        if found is not None and found.slope == Slope.FELL:
            return releases
    return None


RULES = {"release before": by_previous, "reference": by_reference, "trend": by_trend}
"""Each finds a loss at the first of so many releases; None: at none of them."""


@cache
def found_at(rule: str, tests: int, g: int, world: World, draws: int) -> list[int | None]:
    rng = np.random.default_rng([tests, g])
    issues = (np.arange(tests) * g // tests).tolist()
    histories = (history(tests, *world, rng) for _ in range(draws))
    return [RULES[rule](passed, issues) for passed in histories]


def found(rule: str, tests: int, g: int, world: World, by: int, draws: int) -> float:
    """Return the share of histories in which the rule finds a loss by this release."""
    at = found_at(rule, tests, g, world, draws)
    return sum(one is not None and one <= by for one in at) / len(at)


MEDIANS = {
    (40, 1): {"reference": (1.0, 11), "trend": (1.0, 10)},
    (40, 8): {"reference": (0.68, 17), "trend": (0.8, 15)},
    (100, 20): {"reference": (1.0, 7), "trend": (1.0, 7)},
    (200, 20): {"reference": (1.0, 5), "trend": (1.0, 5)},
}
"""By tests and issues: the share of slides that a rule finds by the last release, and the release
by which half of those that it finds are."""


def checks() -> Iterator[Check]:
    for (tests, g), rules in MEDIANS.items():
        at = f"{tests} tests, {g} issues, by"
        for rule, (power, median) in rules.items():
            few = SLOW if tests > 40 else SLOW // 4
            last, early, none = (
                one_in(slow, partial(found, rule, tests, g, world, by))
                for slow, world, by in (
                    (SLOW, SLIDE, RELEASES),
                    (SLOW, SLIDE, median + 1),
                    (few, STEADY, RELEASES),
                )
            )
            yield Check(f"decay from 95 to 67 %: {at} {rule}", power - 0.05, 1.0, last)
            name = f"decay from 95 to 67 %: {at} {rule}, by release {median + 1}"
            yield Check(name, power / 2, 1.0, early)
            yield Check(f"decay, none: {at} {rule}", 0.0, 0.065, none)
        slides, steady = (
            one_in(SLOW, partial(found, "release before", tests, g, world, RELEASES))
            for world in (SLIDE, STEADY)
        )
        name = f"{at} the release before"
        yield Check(f"decay from 95 to 67 %: {name}", 0.95, 1.0, slides, FORMER)
        yield Check(f"decay, none: {name}", 0.0, 0.065, steady, FORMER)
