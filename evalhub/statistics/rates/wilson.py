from functools import cache
from math import sqrt
from statistics import NormalDist

from evalhub.statistics.arguments import check_count, check_level
from evalhub.statistics.interval import Interval


def wilson_interval(k: int, n: int, *, level: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of the rate k / n, within [0, 1].

        (p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n)   with p = k/n

    None if n is 0: the rate is not measured.

    Raises:
        ValueError: k is not within 0 to n, or `level` not within 0 to 1.

    Source: E. B. Wilson (1927), doi:10.1080/01621459.1927.10502953.
    """
    check_count(k, n)
    check_level(level)
    if n == 0:
        return None
    return wilson_bounds(k / n, n, wilson_quantile(level))


def wilson_bounds(p: float, n: float, z: float) -> Interval:
    """Return Wilson's interval of a share p of n > 0 results, ±z standard errors wide.

    `n` may be an effective number, and so a fraction.
    """
    shrink = 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z / shrink * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(
        low=0.0 if p <= 0 else centre - half,
        high=1.0 if p >= 1 else centre + half,
    )


@cache
def wilson_quantile(level: float) -> float:
    """So many standard deviations hold the middle `level` of a normal distribution."""
    return NormalDist().inv_cdf(0.5 + level / 2)
