"""The gate's test of a change: false alarms without a change, and power where one is planted.

From "The unit of evidence". A run is compared with an earlier one on 60 tests in 1, 3, 6 or 20
issues. Without a change either:

- tests are independent: each passes with its own rate, the same in both runs;
- issues differ in difficulty: Beta-distributed rates of issues with a correlation of 0.5, the same
  in both runs, so that tests of one issue are alike and yet flip independently; or
- issues vary from run to run: each issue's rate is drawn anew for each run, so that its tests get
  worse or better together. Only a test by whole issue can allow for that; so the rule does from 6
  changed issues on, and says "tests of one issue may fail together" below. There it makes no
  promise, and the figure is how often it has to say so.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.change_test import change_test, is_significant
from tests.bench.validity import Check, one_in

TESTS = 60
ISSUES = (1, 3, 6, 20)
RATES = (0.5, 0.9)
STRENGTH = 1.0
"""a + b of the Beta distribution: a correlation within issues of 1 / (1 + a + b) = 0.5."""

FEW = (0.0, 0.05)
POWERFUL = (0.8, 1.0)
Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Floats, Floats]]
"""Draws the true rates of all tests in the first and in the second run."""


def issues_of(n: int, tests: int = TESTS) -> NDArray[np.int64]:
    return np.arange(tests) % n


def independent(rate: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    rates = rng.beta(4 * rate, 4 * (1 - rate), TESTS)
    return rates, rates


def difficult(issues: int, rate: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    of_issue = rng.beta(STRENGTH * rate, STRENGTH * (1 - rate), issues)
    rates = of_issue[issues_of(issues)]
    return rates, rates


def varying(issues: int, rate: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    first, second = rng.beta(STRENGTH * rate, STRENGTH * (1 - rate), (2, issues))
    return first[issues_of(issues)], second[issues_of(issues)]


def is_alarm(first: Floats, second: Floats, issues: int) -> bool:
    """Return whether the gate's test, at its level of 5 %, tells of any change."""
    changes = (second - first).tolist()
    p = change_test(changes, issues_of(issues, len(changes)).tolist(), single=True).p
    return p is not None and p <= 0.05


def alarms(draw: Draw, issues: int, draws: int, *, repeats: int = 1) -> float:
    """Return the share of comparisons that tell of a change."""
    rng = np.random.default_rng(100 * issues + repeats)
    found = 0
    for _ in range(draws):
        first, second = (rng.binomial(repeats, rates) / repeats for rates in draw(rng))
        found += is_alarm(first, second, issues)
    return found / draws


def alarms_where_issues_vary(issues: int, draws: int, *, has_caveat: bool) -> float:
    """Return the share of comparisons that tell of a change, by whole issues or with the caveat."""
    rng = np.random.default_rng(issues)
    found = 0
    for _ in range(draws):
        first, second = (rng.binomial(1, rates) for rates in varying(issues, 0.9, rng))
        test = change_test((second - first).tolist(), issues_of(issues).tolist(), single=True)
        found += is_significant(test.p) and bool(test.caveat) == has_caveat
    return found / draws


def losses(lost: int, issues: int, noise: float, draws: int) -> float:
    """Return the share of comparisons that find so many lost tests of the first issues.

    All tests passed before; those lost fail now, and of the others each flips by chance.
    """
    rng = np.random.default_rng(1000 + 10 * issues + lost)
    order = np.argsort(issues_of(issues), kind="stable")
    found = 0
    for _ in range(draws):
        flips = rng.random((2, TESTS)) < noise
        first, second = 1.0 - flips[0], 1.0 - flips[1]
        first[order[:lost]], second[order[:lost]] = 1.0, 0.0
        found += is_alarm(first, second, issues)
    return found / draws


def lost_suite(draws: int) -> float:
    """Return 1 if 100 of 100 tests lost of a single issue are found; nothing is drawn."""
    return float(is_alarm(np.ones(100), np.zeros(100), 1))


def checks() -> Iterator[Check]:
    name = "gate: 100 of 100 tests lost, 1 issue, no noise: told"
    yield Check(name, 1, 1, lost_suite)
    for issues, rate in product(ISSUES, RATES):
        for name, draw in (
            ("independent tests", partial(independent, rate)),
            ("issues of differing difficulty", partial(difficult, issues, rate)),
        ):
            for repeats in (1, 3):
                yield Check(
                    f"gate: no change, {issues} issues × {TESTS // issues} tests, pass rate "
                    f"{rate:.0%}, {name}, {repeats} repeats: false alarms",
                    *FEW,
                    one_in(5, partial(alarms, draw, issues, repeats=repeats)),
                )
    yield Check(
        "gate: no change, 20 issues × 3 tests, pass rate 50%, issues vary from run to run: "
        "false alarms",
        *FEW,
        one_in(5, partial(alarms, partial(varying, 20, 0.5), 20)),
    )
    for issues in (1, 3, 10, 20):
        where = f"{issues} issues × {TESTS // issues} tests, pass rate 90%, issues vary"
        by_issue, by_test = (
            one_in(5, partial(alarms_where_issues_vary, issues, has_caveat=one))
            for one in (False, True)
        )
        yield Check(f"gate: no change, {where}: false alarms by issue", *FEW, by_issue)
        yield Check(
            f"gate: no change, {where}: false alarms by test", 0, 1, by_test, "caveat shown"
        )
    for issues, lost in ((1, TESTS), (1, 12), (3, 12), (3, TESTS // 3), (6, 30), (20, 24)):
        yield Check(
            f"gate: {lost} of {TESTS} tests lost, {issues} issues: told",
            *POWERFUL,
            one_in(5, partial(losses, lost, issues, 0.02)),
        )
