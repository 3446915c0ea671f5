"""Percentiles of a sample, with their interval by order statistics."""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from evalhub.statistics.arguments import check_level
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.binomial import at_most


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile of at least one value.

    Args:
        values: Rising, shape (n,), n >= 1.
        share: In (0, 1], such as 0.9.
    """
    return values[max(ceil(Fraction(str(share)) * len(values)), 1) - 1]


def percentile_interval(
    values: Sequence[float], share: float, *, level: float = 0.95
) -> Interval | None:
    """Return the interval of a percentile between two of the values; no distribution is assumed.

    The number of values at or below the percentile of their source is binomial. Values are taken
    as independent.

    Args:
        values: Rising, shape (n,).
        share: In (0, 1), such as 0.9.

    Returns:
        None where the values are too few for a bound on either side: 36 at a share of 0.9.

    Raises:
        ValueError: `level` or `share` is not within 0 to 1.

    Source: W. J. Conover (1999), Practical Nonparametric Statistics, section 3.2.
    """
    check_level(level)
    if not 0 < share < 1:
        raise ValueError(f"expected a share between 0 and 1, got {share}")
    n, tail = len(values), (1 - level) / 2
    low = bisect_left(range(n), True, key=lambda k: at_most(k, n, share) > tail)
    high = bisect_left(range(n), True, key=lambda k: at_most(k, n, share) >= 1 - tail)
    # P(B <= low - 1) <= tail, and P(B >= high + 1) <= tail, for the ranks low and high + 1.
    if low < 1 or high + 1 > n:
        return None
    return Interval(values[low - 1], values[high])
