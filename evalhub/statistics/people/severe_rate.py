"""Whether an issue was shown to fail rarely, or to be fixed. Pure."""

from math import ceil, log
from typing import NamedTuple

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.exact_rate import least_tests, lower_bound, upper_bound

_NEAR = 1e-9
LEVEL = 0.05
"""One-sided, of either bound."""


class SevereRate(NamedTuple):
    """What is known of the rate of failing tests.

    Attributes:
        bounds: Each one-sided with 95 %, within [0, 1].
        needed: Tests that would show the limit with as many failures.
    """

    bounds: Interval
    needed: int


def severe_rate(
    failing: int, tests: int, limit: float, *, specificity: float | None = None
) -> SevereRate:
    """Return the bounds of the rate of failing tests, and the tests that its limit needs.

    Args:
        failing: Tests that failed, 0 to `tests`; repeats are no further tests.
        tests: 1 or more.
        limit: In (0, 1).
        specificity: The lower bound of the judges' specificity, in (0, 1]; None: people judged.
            Judges miss failures and see some that are none: their lowest rate is 0.

    Raises:
        ValueError: A number is out of its range.
    """
    if specificity is not None and not 0 < specificity <= 1:
        raise ValueError(f"expected a specificity above 0 and at most 1, got {specificity}")
    caught = 1.0 if specificity is None else specificity
    bounds = Interval(
        lower_bound(failing, tests) if specificity is None else 0.0,
        min(1.0, upper_bound(failing, tests) / caught),
    )
    return SevereRate(bounds, least_tests(limit * caught, failing))


def clean_tests_needed(failed_before: float) -> int:
    """Return how many tests without a failure show that an issue is fixed.

    Args:
        failed_before: Share of its tests that failed, in (0, 1).

    Raises:
        ValueError: The share is not within 0 to 1.
    """
    if not 0 < failed_before < 1:
        raise ValueError(f"expected a share between 0 and 1, got {failed_before}")
    return ceil(log(LEVEL) / log(1 - failed_before) - _NEAR)
