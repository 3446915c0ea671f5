"""Changes that were planted, with what must be said of them."""

from typing import NamedTuple

Layout = list[tuple[int, int, int]]
"""Of each issue: tests lost, won and without a change."""


class Planted(NamedTuple):
    """Figures as printed: p to two significant digits, bounds in points to one decimal.

    `p`, `low` and `high` are those of the change on the whole; None: not known.
    """

    layout: Layout
    p: float | None
    low: float | None
    high: float | None
    p_lost: float
    named: int
    found: int
    word: str


SAME = (0, 0, 10)
PLANTED = {
    "five of 20 issues lost": Planted(
        [(10, 0, 0)] * 5 + [SAME] * 15, 0.031, -45.5, 0, 1.8e-15, 5, 5, "worse"
    ),
    "and one test of a sixth won": Planted(
        [(10, 0, 0)] * 5 + [(0, 1, 9)] + [SAME] * 14, 0.047, -44.5, 0, 1.8e-15, 5, 5, "worse"
    ),
    "one issue lost, five win one": Planted(
        [(30, 0, 0)] + [(0, 1, 29)] * 5 + [(0, 0, 30)] * 14,
        *(0.98, -13.8, 1.5, 1.9e-9, 1, 1, "worse"),
    ),
    "five lose 4 of 10, one wins one": Planted(
        [(4, 0, 6)] * 5 + [(0, 1, 9)] + [SAME] * 14, 0.047, -17.8, 0, 1.9e-6, 0, 5, "worse"
    ),
    "three lose 3 of 3": Planted(
        [(3, 0, 0)] * 3 + [(0, 0, 3)] * 18, 0.12, -30, 0, 0.0039, 0, 3, "worse"
    ),
    "three lose 3 of 3, twelve one, one wins": Planted(
        [(3, 0, 0)] * 3 + [(1, 0, 2)] * 12 + [(0, 1, 2)] + [(0, 0, 3)] * 5,
        *(None, None, None, 6.7e-6, 0, 3, "worse"),
    ),
    "five lost, five won": Planted(
        [(10, 0, 0)] * 5 + [(0, 10, 0)] * 5 + [SAME] * 10,
        *(1, -33.3, 33.3, 4.8e-10, 5, 5, "worse"),
    ),
    "no answer changed": Planted([SAME] * 20, 1, -1.9, 1.9, 1, 0, 0, "no_outcome_changed"),
    "three lost, three won": Planted(
        [(1, 0, 9)] * 3 + [(0, 1, 9)] * 3 + [SAME] * 14, 1, -3.0, 3.0, 1, 0, 0, "cannot_tell"
    ),
    "5 of 20 in one issue": Planted([(5, 0, 15)], 0.031, -46.9, -4.9, 0.062, 0, 0, "worse"),
    "4 of 20 in one issue": Planted([(4, 0, 16)], 0.062, -41.6, 0, 0.12, 0, 0, "cannot_tell"),
    "12 tests without a change": Planted(
        [(0, 0, 12)], 1, -24.2, 24.2, 1, 0, 0, "no_outcome_changed"
    ),
    "2 of 40": Planted([(2, 0, 38)], 0.25, -16.5, 4.2, 0.5, 0, 0, "cannot_tell"),
    "nine single tests lost, one won": Planted(
        [(1, 0, 9)] * 9 + [(0, 1, 9)] + [SAME] * 10, 0.012, -7.9, -1.1, 0.021, 0, 0, "worse"
    ),
    "30 won over ten issues, one lost": Planted(
        [(0, 3, 7)] * 10 + [(10, 0, 0)] + [SAME] * 9, 0.17, -4.4, 21.8, 0.002, 1, 1, "worse"
    ),
}


def spread(layout: Layout) -> tuple[list[float], list[int]]:
    """Return the changes of a layout, with the issue of each."""
    changes: list[float] = []
    issues: list[int] = []
    for issue, (lost, won, same) in enumerate(layout):
        changes += [-1.0] * lost + [1.0] * won + [0.0] * same
        issues += [issue] * (lost + won + same)
    return changes, issues
