"""What every interval of this package is."""

from typing import NamedTuple


class Interval(NamedTuple):
    """Bounds of a confidence interval, in the unit of what was measured; low <= high."""

    low: float
    high: float
