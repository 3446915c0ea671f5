"""Coverage of the 95 % interval of the difference of two pass rates over different tests.

The rule for pass rates, applied to their difference, with 10 tests an issue and Beta-distributed
rates of issues at a correlation of 0 to 0.5: from 10 issues on at least 90 %, never above 99.5 %.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from evalhub.statistics.rates.rate_difference import rate_difference_interval
from evalhub.statistics.rates.rate_interval import rate_interval
from tests.bench.validity import Check
from tests.bench.validity.intervals import rates

TESTS = 10
PAIRS = ((0.5, 0.5), (0.8, 0.5), (0.9, 0.8))
CORRELATIONS = (0.0, 0.1, 0.3, 0.5)


def checks() -> Iterator[Check]:
    for issues, pair, correlation in product((10, 20), PAIRS, CORRELATIONS):
        yield Check(
            f"rate difference: {issues} issues each, {pair[0]} and {pair[1]}, correlation "
            f"{correlation}",
            0.9,
            0.995,
            partial(coverage, issues, pair, correlation),
        )


def coverage(issues: int, pair: tuple[float, float], correlation: float, draws: int) -> float:
    """Return the share of simulated runs whose interval contains the true difference."""
    rng = np.random.default_rng(round(1000 * (issues + sum(pair) + correlation)))
    first, second = (
        rng.binomial(TESTS, rates(issues, rate, correlation, draws, rng)).tolist() for rate in pair
    )
    found = [_interval(one, other) for one, other in zip(first, second, strict=True)]
    return float(np.mean([low <= pair[0] - pair[1] <= high for low, high in found]))


def _interval(first: list[int], second: list[int]) -> tuple[float, float]:
    n = TESTS * len(first)
    of_first, of_second = (
        rate_interval([(passed, TESTS) for passed in one]).interval for one in (first, second)
    )
    return rate_difference_interval(sum(first) / n, of_first, sum(second) / n, of_second)
