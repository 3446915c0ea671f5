"""How far values lie apart."""

from collections.abc import Sequence
from math import fsum, sqrt

SPLIT = 0.3
"""Judges whose values deviate by more than this are split over a criterion."""


def population_deviation(values: Sequence[float | None]) -> float | None:
    """√(Σ(x - mean)² / n): how far apart the judges of one criterion are.

    They are all who were asked, not a sample of many, so the sum is divided by n.

    Args:
        values: In [0, 1], before any inversion (which would change nothing); None is a judge that
            gave no value and is left out.

    Returns:
        In the unit of the values. None where fewer than two gave a value: one cannot disagree.
    """
    return _deviation(values, lost=0)


def sample_deviation(values: Sequence[float | None]) -> float | None:
    """√(Σ(x - mean)² / (n - 1)): how much scores differ between tests, from some of them.

    Args:
        values: Of equal weight; None is "not measured" and is left out.

    Returns:
        In the unit of the values. None where fewer than two were measured.
    """
    return _deviation(values, lost=1)


def _deviation(values: Sequence[float | None], *, lost: int) -> float | None:
    measured = [value for value in values if value is not None]
    if len(measured) < 2:
        return None
    mean = fsum(measured) / len(measured)
    return sqrt(fsum((value - mean) ** 2 for value in measured) / (len(measured) - lost))


def is_split(deviation: float | None) -> bool:
    """Whether the judges of a criterion disagree so much that a person should look.

    Compared after rounding to 1e-9; False where the deviation was not measured.
    """
    return deviation is not None and round(deviation, 9) > SPLIT
