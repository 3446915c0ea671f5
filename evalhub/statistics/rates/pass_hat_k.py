"""pass^k: how often a model passes a test k times in a row. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import comb
from statistics import fmean
from typing import NamedTuple

from evalhub.statistics.arguments import check_lengths
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import mean_interval

MORE_REPEATS, LEAST_TESTS = 2, 30
"""Repeats beyond k, and tests, from which on it is shown."""


class PassHatK(NamedTuple):
    """The chance that all of k answers to a test pass, as judges see them.

    Attributes:
        rate: Mean over the tests, in [0, 1].
        interval: By issue; None below 5 issues, or where all have the same mean.
        is_enough: There are tests and repeats enough to show it.
    """

    rate: float
    interval: Interval | None
    is_enough: bool


def pass_hat_k(
    passed: Sequence[int], repeats: Sequence[int], issues: Sequence[Hashable], k: int
) -> PassHatK | None:
    """Return the mean of C(c, k) / C(n, k) over tests with c passes of n repeats.

    It cannot be anchored in people: a product of verdicts multiplies their errors.

    Args:
        passed: Passes of each test, shape (tests,).
        repeats: Of the same tests; those with fewer than k are left out.
        issues: Of the same tests.
        k: 1 or more.

    Returns:
        None without a test that has k repeats.

    Raises:
        ValueError: The sequences differ in length, or k is below 1.

    Source: S. Yao et al. (2024), tau-bench, section 3, arXiv:2406.12045.
    """
    check_lengths(passed=passed, repeats=repeats, issues=issues)
    if k < 1:
        raise ValueError(f"expected k of 1 or more, got {k}")
    rates: dict[Hashable, list[float]] = defaultdict(list)
    fewest, n_tests = min((n for n in repeats if n >= k), default=0), 0
    for c, n, issue in zip(passed, repeats, issues, strict=True):
        if n >= k:
            rates[issue].append(comb(c, k) / comb(n, k))
            n_tests += 1
    if not n_tests:
        return None
    is_enough = fewest >= k + MORE_REPEATS and n_tests >= LEAST_TESTS
    mean = fmean(rate for some in rates.values() for rate in some)
    sums = [(sum(some), float(len(some))) for some in rates.values()]
    return PassHatK(mean, mean_interval(sums), is_enough)
