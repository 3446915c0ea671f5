"""Coverage of the 95 % interval of a net change.

The rule for pass rates, applied to changes, with 10 tests an issue and Beta-distributed rates of
issues, drawn anew for each run, at a correlation of 0 to 0.5: from 5 issues on at least 90 %, never
above 99.5 %. Below 5 issues the interval is by test, and covers where tests are independent.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from evalhub.statistics.changes.change_interval import change_interval
from tests.bench.validity import Check
from tests.bench.validity.intervals import rates

TESTS = 10
PAIRS = ((0.5, 0.5), (0.9, 0.8), (0.9, 0.9))
"""True rates of the first and of the second run."""

WITHIN = (0.9, 0.995)


def coverage(issues: int, before: float, after: float, correlation: float, draws: int) -> float:
    """Return the share of simulated pairs whose interval contains the true change.

    A pair in which all tests change alike has no interval and does not count.
    """
    draws = max(1, draws // 10)
    rng = np.random.default_rng(round(1000 * (issues + before + after + correlation)))
    first, second = (
        np.repeat(rates(issues, rate, correlation, draws, rng), TESTS, axis=1)
        for rate in (before, after)
    )
    changes = rng.binomial(1, second) - rng.binomial(1, first)
    issue_of = np.repeat(np.arange(issues), TESTS).tolist()
    found = [change_interval(row, [1.0] * len(row), issue_of) for row in changes.tolist()]
    covers = [
        one.interval.low <= after - before <= one.interval.high for one in found if one is not None
    ]
    return float(np.mean(covers))


def checks() -> Iterator[Check]:
    for issues, (before, after) in product((1, 3, 5, 10, 20), PAIRS):
        for correlation in (0.0,) if issues < 5 else (0.0, 0.3, 0.5):
            yield Check(
                f"change interval: {issues} issues, rates {before} and {after}, correlation "
                f"{correlation}",
                *WITHIN,
                partial(coverage, issues, before, after, correlation),
            )
