from functools import cache
from math import atan2, cos, pi, sin, sqrt
from statistics import NormalDist

from evalhub.statistics.arguments import check_level

MANY = 1000
"""Degrees of freedom from which on the expansion is exact to 1e-9."""


@cache
def student_quantile(level: float, freedom: int) -> float:
    """Return t such that the middle `level` of Student's distribution is within ±t.

    Args:
        freedom: Degrees of freedom, 1 or more.

    Raises:
        ValueError: `level` is not within 0 to 1, or there are no degrees of freedom.

    Source: M. Abramowitz, I. A. Stegun (1964), Handbook of Mathematical Functions, 26.7.3-5.
    """
    check_level(level)
    if freedom < 1:
        raise ValueError(f"expected 1 or more degrees of freedom, got {freedom}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    if freedom >= MANY:
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, 1.0
    while student_share(high, freedom) < level:
        low, high = high, 2 * high
    for _ in range(60):
        halfway = (low + high) / 2
        low, high = (halfway, high) if student_share(halfway, freedom) < level else (low, halfway)
    return (low + high) / 2


def student_share(t: float, freedom: int) -> float:
    """Return P(-t <= T <= t), by the finite series for whole degrees of freedom, 1 or more."""
    angle = atan2(t, sqrt(freedom))
    is_odd = freedom % 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0
    for k in range(is_odd + 1, freedom, 2):
        total += term
        term *= k / (k + 1) * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if is_odd else sin(angle) * total
