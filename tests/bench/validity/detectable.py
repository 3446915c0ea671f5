"""The detectable change: the conclusion shows a loss of so much in 80 %, under the stated model.

The model: each test changes with the stated chance, independently; a loss turns changes for the
better into losses.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from evalhub.statistics.changes.conclusion import Outcome, Pair, conclude
from evalhub.statistics.changes.detectable_change import Plan
from tests.bench.validity import Check, one_in

POWER = (0.72, 0.88)
"""A simulated figure has a standard error of 2.6 to 3.7 points, and this one of 2."""

SLOW = 25
SUITES = ((200, 1), (200, 4), (200, 8), (200, 20), (100, 100), (60, 30))
"""Tests, and issues."""


def power(tests: int, issues: int, measured: tuple[float, ...], draws: int) -> float:
    """Return the power at the detectable change; `measured` are changes of the pair before."""
    issue_of = [test % issues for test in range(tests)]
    plan = Plan.of(Counter(issue_of).values(), measured)
    assert plan is not None
    change = plan.detectable().change
    assert change is not None
    sizes = np.abs(measured) if measured else np.array([1.0] * 15 + [0.0] * 85)
    bias = change / sizes.mean()
    rng = np.random.default_rng(tests + issues)
    shown = 0
    for _ in range(draws):
        changes = rng.choice(sizes, tests) * np.where(rng.random(tests) < (1 - bias) / 2, 1, -1)
        pairs = (
            Pair(issue, Outcome.whole(0.5 - one / 2), Outcome.whole(0.5 + one / 2))
            for issue, one in zip(issue_of, changes.tolist(), strict=True)
        )
        shown += conclude(pairs).word.is_loss
    return shown / draws


def checks() -> Iterator[Check]:
    halves = (0.5, -0.5, 1.0, 0.0, 0.0, 0.0) * 10
    for tests, issues in SUITES:
        for name, measured in (
            ("15% assumed to change", ()),
            ("30% measured to change", (1.0, -1.0, -1.0, *[0.0] * 7) * 10),
            ("half of the tests change, mostly in part", halves),
        ):
            yield Check(
                f"detectable: {tests} tests in {issues} issues, {name}: power at the stated change",
                *POWER,
                one_in(SLOW, partial(power, tests, issues, measured)),
            )
