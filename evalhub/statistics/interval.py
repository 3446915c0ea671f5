"""The type of all intervals."""

from typing import NamedTuple


class Interval(NamedTuple):
    """Bounds of a confidence interval, in the unit of the measured value; low <= high."""

    low: float
    high: float
