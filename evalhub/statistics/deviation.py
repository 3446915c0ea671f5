from collections.abc import Sequence
from math import fsum, sqrt

SPLIT = 0.3
"""Judges whose values deviate by more than this are split over a criterion."""


def population_deviation(values: Sequence[float | None]) -> float | None:
    """Return √(Σ(x - mean)² / n), the spread of a criterion's judges.

    They are all judges asked, not a sample, so the sum is divided by n.

    Args:
        values: In [0, 1], before or after any inversion; None is a judge without a value, left
            out.

    Returns:
        In the unit of the values. None with fewer than two values.
    """
    return _deviation(values, lost=0)


def sample_deviation(values: Sequence[float | None]) -> float | None:
    """Return √(Σ(x - mean)² / (n - 1)), the spread of scores estimated from a sample of tests.

    Args:
        values: Of equal weight; None is "not measured" and is left out.

    Returns:
        In the unit of the values. None with fewer than two measured values.
    """
    return _deviation(values, lost=1)


def _deviation(values: Sequence[float | None], *, lost: int) -> float | None:
    measured = [value for value in values if value is not None]
    if len(measured) < 2:
        return None
    mean = fsum(measured) / len(measured)
    return sqrt(fsum((value - mean) ** 2 for value in measured) / (len(measured) - lost))


def is_split(deviation: float | None) -> bool:
    """Return whether judges disagree enough for a human review; False if not measured."""
    return deviation is not None and round(deviation, 9) > SPLIT
