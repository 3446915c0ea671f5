"""Exact one-sided bounds of a rate, of fractions of successes too. Pure."""

from bisect import bisect_left
from functools import lru_cache
from math import exp, lgamma, log, log1p

from evalhub.statistics.arguments import check_level

_STEPS = 60
_TERMS = 500
_TINY = 1e-300
_NEGLIGIBLE = 1e-15


@lru_cache(maxsize=10_000)
def upper_bound(found: float, n: float, *, level: float = 0.95) -> float:
    """Return the largest rate that so few of n do not refute: Clopper-Pearson, one-sided.

    Args:
        found: Successes, 0 to n; a fraction is a test of which some answers are.
        n: Independent tests, above 0.

    Returns:
        In (0, 1]; 1 where all were found.

    Raises:
        ValueError: `found` is not within 0 to n, or the level not within 0 to 1.

    Source: C. J. Clopper, E. S. Pearson (1934), doi:10.1093/biomet/26.4.404.
    """
    check_level(level)
    if not 0 <= found <= n or not n:
        raise ValueError(f"expected 0 <= found <= n and n > 0, got {found} of {n}")
    if n - found < _NEGLIGIBLE:
        return 1.0
    low, high = found / n, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if beta_share(middle, found + 1, n - found) < level else (low, middle)
        )
    return high


def lower_bound(found: float, n: float, *, level: float = 0.95) -> float:
    """Return the smallest rate that so many of n do not refute, in [0, 1); see `upper_bound`."""
    return 1 - upper_bound(n - found, n, level=level)


@lru_cache(maxsize=1000)
def least_tests(limit: float, failed: int = 0, *, level: float = 0.95) -> int:
    """Return how many tests show a rate within a limit, if so many of them fail.

    Args:
        limit: In (0, 1).

    Raises:
        ValueError: The limit is not within 0 to 1.
    """
    if not 0 < limit < 1:
        raise ValueError(f"expected a limit between 0 and 1, got {limit}")

    def shows(n: int) -> bool:
        return upper_bound(failed, n, level=level) <= limit

    enough = 2 * (failed + 1)
    while not shows(enough):
        enough *= 2
    return bisect_left(range(enough), True, failed + 1, key=shows)


def beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function of x in (0, 1], a and b above 0.

    Source: M. Abramowitz, I. A. Stegun (1964), Handbook of Mathematical Functions, 26.5.8.
    """
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    return front * _continued_fraction(x, a, b) / a


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the fraction by the method of W. J. Lentz (1976), doi:10.1364/AO.15.000668."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            c, d = _away(1 + term / c), 1 / _away(1 + term * d)
            value *= c * d
        if abs(c * d - 1) < _NEGLIGIBLE:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
