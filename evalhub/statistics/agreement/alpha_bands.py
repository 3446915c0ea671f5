"""From which alpha on raters count as reliable.

Source: K. Krippendorff (2004), Content Analysis, chapter 11: rely on alpha from 0.8 on, conclude
tentatively from 0.667 on.
"""

from enum import StrEnum

from evalhub.statistics.interval import Interval

RELIABLE, TENTATIVE = 0.8, 0.667
MIN_RATERS, MIN_UNITS = 2, 5


class Band(StrEnum):
    """Reliability of an alpha, or the reason why there is none."""

    RELIABLE = "reliable"
    TENTATIVE = "tentative"
    UNRELIABLE = "unreliable"
    NO_VARIATION = "no variation"
    NOT_ENOUGH_DATA = "not enough data to say"


def is_enough(*, raters: int, units: int) -> bool:
    """Return whether an alpha of so many raters and units is worth showing."""
    return raters >= MIN_RATERS and units >= MIN_UNITS


def band(alpha: float | None, interval: Interval | None, *, raters: int, units: int) -> Band:
    """Rate the reliability of an alpha by its interval.

    Args:
        alpha: From `alpha_from_coincidences`; None if undefined.
        interval: From `alpha_interval`; None if unknown.
        raters: Number of raters with ratings.
        units: Number of units with at least two ratings.

    Returns:
        No variation if alpha is undefined; reliable if the interval is from 0.8 on, unreliable if
        it is below 0.667, tentative if it is between these. Not enough data otherwise, and with
        fewer than 2 raters or 5 such units.
    """
    if not is_enough(raters=raters, units=units):
        return Band.NOT_ENOUGH_DATA
    if alpha is None:
        return Band.NO_VARIATION
    if interval is None:
        return Band.NOT_ENOUGH_DATA
    low, high = round(interval.low, 9), round(interval.high, 9)
    if low >= RELIABLE:
        return Band.RELIABLE
    if high < TENTATIVE:
        return Band.UNRELIABLE
    return Band.TENTATIVE if low >= TENTATIVE and high < RELIABLE else Band.NOT_ENOUGH_DATA
