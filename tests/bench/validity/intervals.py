"""Coverage of the 95 % interval of a pass rate.

The rule, with 10 tests an issue and Beta-distributed rates of issues at a correlation of 0 to 0.5:
at least 94 % at a rate of 0.5; at rates of 0.1 and 0.9 at least 90 % from 20 issues on and at least
85 % at 10; never above 99.5 %.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from evalhub.statistics.rates.rate_interval import rate_interval
from tests.bench.validity import Check

TESTS = 10
CORRELATIONS = (0.0, 0.1, 0.3, 0.5)
LEAST = {
    **{(issues, 0.5): 0.94 for issues in (5, 8, 10, 20, 50)},
    **{(issues, rate): 0.0 for issues in (5, 8) for rate in (0.1, 0.9)},
    **{(10, rate): 0.85 for rate in (0.1, 0.9)},
    **{(issues, rate): 0.90 for issues in (20, 50) for rate in (0.1, 0.9)},
}
"""Least coverage by number of issues and rate; 0: the rule gives none."""

MOST = 0.995


def checks() -> Iterator[Check]:
    for (issues, rate), least in LEAST.items():
        for correlation in CORRELATIONS:
            name = f"interval: {issues} issues, rate {rate}, correlation {correlation}"
            measure = partial(coverage, issues, rate, correlation)
            yield Check(name, least, MOST, measure)


def coverage(issues: int, rate: float, correlation: float, draws: int) -> float:
    """Return the share of simulated runs whose interval contains the true rate."""
    rng = np.random.default_rng(round(1000 * (issues + rate + correlation)))
    passed = rng.binomial(TESTS, rates(issues, rate, correlation, draws, rng))
    return float(np.mean([_covers(row, rate) for row in passed.tolist()]))


def rates(
    issues: int, rate: float, correlation: float, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw the true rates of issues, shape (draws, issues), with this correlation within issues."""
    if not correlation:
        return np.full((draws, issues), rate)
    strength = (1 - correlation) / correlation
    return rng.beta(rate * strength, (1 - rate) * strength, size=(draws, issues))


def _covers(passed: Iterable[int], rate: float) -> bool:
    low, high = rate_interval([(one, TESTS) for one in passed]).interval
    return low <= rate <= high
