"""How often a slow slide over releases is found, and one is where there is none.

The model: 20 releases. Each test has a place between 0 and 1 for good, and passes a release whose
rate is above it; in each release a share of the tests has another place, drawn anew.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.conclusion import Outcome, Pair, conclude
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.changes.slow_decay import LEVEL_OF_LOOKS, Slope, slow_change
from tests.bench.validity import Check, one_in

RELEASES = 20
SLOW = 100
"""One history in so many draws: each has 19 comparisons."""

OUTCOME = [Outcome.whole(0.0), Outcome.whole(1.0)]
SLIDE, STEADY = (0.95, 0.67, 0.15), (0.7, 0.7, 1.0)
Passed = NDArray[np.int64]


def history(tests: int, first: float, last: float, anew: float, rng: np.random.Generator) -> Passed:
    """Return which tests passed in each release, shape (releases, tests)."""
    places, rates = rng.random(tests), np.linspace(first, last, RELEASES)
    drawn = rng.random((RELEASES, tests)) < anew
    shown = np.where(drawn, rng.random((RELEASES, tests)), places)
    return (shown < rates[:, np.newaxis]).astype(np.int64)


def is_loss(old: Passed, new: Passed, issues: list[int], level: float) -> bool:
    pairs = (Pair(i, OUTCOME[a], OUTCOME[b]) for i, a, b in zip(issues, old, new, strict=True))
    return conclude(pairs, level=level).word.is_loss


def by_previous(passed: Passed, issues: list[int]) -> bool:
    """The old rule: each release against the one before."""
    return any(is_loss(*pair, issues, LEVEL) for pair in pairwise(passed))


def by_reference(passed: Passed, issues: list[int]) -> bool:
    return any(is_loss(passed[0], row, issues, LEVEL_OF_LOOKS) for row in passed[1:])


def by_trend(passed: Passed, issues: list[int]) -> bool:
    for releases in range(3, RELEASES + 1):
        outcomes = [[OUTCOME[one] for one in row] for row in passed[:releases].T]
        found = slow_change(outcomes, issues)
        if found is not None and found.slope == Slope.FELL:
            return True
    return False


RULES = {"previous": by_previous, "reference": by_reference, "trend": by_trend}


def found(rule: str, tests: int, g: int, world: tuple[float, float, float], draws: int) -> float:
    """Return the share of histories in which the rule ever finds a loss."""
    rng = np.random.default_rng(tests + g)
    issues = (np.arange(tests) * g // tests).tolist()
    histories = (history(tests, *world, rng) for _ in range(draws))
    return float(np.mean([RULES[rule](passed, issues) for passed in histories]))


def checks() -> Iterator[Check]:
    for tests, g, *power in ((40, 1, 0.95, 0.95), (40, 8, 0.63, 0.75), (100, 20, 0.95, 0.95)):
        for rule, least in zip(("reference", "trend"), power, strict=True):
            yield Check(
                f"decay from 95 to 67 %: {tests} tests, {g} issues, by {rule}",
                *(least, 1.0),
                one_in(SLOW, partial(found, rule, tests, g, SLIDE)),
            )
            yield Check(
                f"decay, none: {tests} tests, {g} issues, by {rule}",
                *(0.0, 0.065),
                one_in(SLOW, partial(found, rule, tests, g, STEADY)),
            )
        yield Check(
            f"decay from 95 to 67 %: {tests} tests, {g} issues, by the release before",
            *(0.0, 0.85),
            one_in(SLOW, partial(found, "previous", tests, g, SLIDE)),
        )
