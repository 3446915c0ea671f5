"""From which alpha on raters count as reliable.

Source: K. Krippendorff (2004), Content Analysis, chapter 11: rely on alpha from 0.8 on, conclude
tentatively from 0.667 on.
"""

from enum import StrEnum

RELIABLE, TENTATIVE = 0.8, 0.667
MIN_RATERS, MIN_UNITS = 2, 5


class Band(StrEnum):
    """Reliability of an alpha, or the reason why there is none."""

    RELIABLE = "reliable"
    TENTATIVE = "tentative"
    UNRELIABLE = "unreliable"
    NO_VARIATION = "no variation"
    TOO_LITTLE_DATA = "too little data"


def band(alpha: float | None, *, raters: int, units: int) -> Band:
    """Rate the reliability of an alpha.

    Args:
        alpha: From `alpha_from_coincidences`; None if undefined.
        raters: Number of raters with ratings.
        units: Number of units with at least two ratings.

    Returns:
        Too little data with fewer than 2 raters or 5 such units; no variation if alpha is
        undefined; else reliable from 0.8, tentative from 0.667 and unreliable below.
    """
    if raters < MIN_RATERS or units < MIN_UNITS:
        return Band.TOO_LITTLE_DATA
    if alpha is None:
        return Band.NO_VARIATION
    if round(alpha, 9) >= RELIABLE:
        return Band.RELIABLE
    return Band.TENTATIVE if round(alpha, 9) >= TENTATIVE else Band.UNRELIABLE
