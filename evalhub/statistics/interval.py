from typing import NamedTuple


class Interval(NamedTuple):
    """Bounds of a confidence interval, in the unit of the measured value; low <= high."""

    low: float
    high: float

    def complement(self) -> "Interval":
        """Return the interval of one minus the value: of failures, from that of passes."""
        return Interval(1 - self.high, 1 - self.low)
