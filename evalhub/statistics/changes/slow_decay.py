"""Whether a row of releases slides, each of them too little to be noticed. Pure.

Each release is compared with a fixed reference, as any two runs are but at `LEVEL_OF_LOOKS`, and
the row as a whole is tested for a trend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evalhub.statistics.changes.conclusion import Outcome
from evalhub.statistics.changes.net_change import change_p

LEVEL_OF_LOOKS = 0.01
"""Two-sided level of each look at a reference, and of a trend over releases."""

LOOKS = 20
"""Looks at one reference for which the level is meant (`dev.py bench validity decay`)."""

MIN_RELEASES = 3
"""Releases that make a trend: two of them are a comparison."""


class Slope(StrEnum):
    FELL = "fell"
    ROSE = "rose"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class SlowChange:
    """A trend over releases. `p` is two-sided, by the bound that speaks against the slope."""

    slope: Slope
    p: float
    tests: int
    releases: int


def slow_change(
    outcomes: Sequence[Sequence[Outcome | None]],
    issues: Sequence[int],
    *,
    level: float = LEVEL_OF_LOOKS,
) -> SlowChange | None:
    """Test whether the outcomes of tests fall or rise over releases.

    The score of a test is the sum of its outcomes, each times the distance of its release from the
    middle of those that have the test; scores are flipped as changes are (`net_change`). A slope
    stands only if it does with all that is missing counted against it.

    Args:
        outcomes: Of each test, in the order of releases; None: the release has not the test.
        issues: Of the same tests.

    Returns:
        None with fewer than three releases, or without a test that two of them have.
    """
    releases = max((len(row) for row in outcomes), default=0)
    rows = [
        (row, issue)
        for row, issue in zip(outcomes, issues, strict=True)
        if sum(one is not None and one.share is not None for one in row) > 1
    ]
    if releases < MIN_RELEASES or not rows:
        return None
    groups, places = np.unique([issue for _, issue in rows], return_inverse=True)

    def tested(against: Slope) -> tuple[float, float]:
        scores = np.array([_score(row, against) for row, _ in rows])
        largest = float(abs(scores).max()) or 1.0
        return float(scores.sum()), change_p(scores / largest, places, len(groups))

    found = {slope: tested(slope) for slope in (Slope.FELL, Slope.ROSE)}
    total, p = found[Slope.FELL]
    if p <= level and total < 0:
        return SlowChange(Slope.FELL, p, len(rows), releases)
    total, p = found[Slope.ROSE]
    if p <= level and total > 0:
        return SlowChange(Slope.ROSE, p, len(rows), releases)
    return SlowChange(Slope.CANNOT_TELL, max(p for _, p in found.values()), len(rows), releases)


def _score(row: Sequence[Outcome | None], against: Slope) -> float:
    """Return the score of a test with what is missing counted against this slope."""
    known = [(place, one) for place, one in enumerate(row) if one is not None]
    middle = sum(place for place, _ in known) / len(known)
    return sum(
        (place - middle) * (one.high if (place > middle) == (against == Slope.FELL) else one.low)
        for place, one in known
    )
