"""Which issues one run lost against another on the same tests: B. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import expm1, log, log1p

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.arguments import check_lengths, check_level
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.changes.signed_sums import in_steps, kept_sums

STEP = 0.01
"""Of a sum of -log p, rounded down on either side."""

LIKELY = 0.5
"""An issue with at least this p is never among those that were lost together."""

_NEAR = 1e-9


@dataclass(frozen=True)
class LostIssue:
    """An issue of which more was lost than won.

    Attributes:
        p: One-sided: of so large a loss, if each changed test could as well have been won.
        adjusted: The same for this issue among all compared ones.
    """

    issue: int
    lost: float
    won: float
    tests: int
    p: float
    adjusted: float


@dataclass(frozen=True)
class LostIssues:
    """The issues that were lost.

    Attributes:
        p: Of the finding that any was lost; at most half the level makes it one.
        together: p of all losses as one, in (0, 1].
        found: With p at most half the level: those lost for sure one by one, and those that are
            lost together, by rising p.
        named: How many of `found` are lost for sure one by one.
        others: Issues with more lost than won that chance may explain, by rising p.
        level: Two-sided, in (0, 1).
    """

    p: float
    together: float
    found: tuple[LostIssue, ...]
    named: int
    others: tuple[LostIssue, ...]
    level: float

    @property
    def is_sure(self) -> bool:
        return self.p <= self.level / 2


@dataclass(frozen=True)
class _Flips:
    """All that the flipped signs of an issue's changes can give.

    Attributes:
        p: The one that was found.
        possible: Those that can be found, rising, shape (k,).
        chances: Of each of them, shape (k,).
    """

    p: float
    possible: tuple[float, ...]
    chances: tuple[float, ...]

    def reached(self, p: float) -> float:
        """Return the largest p of the issue that is at most this one; 0: it can have none."""
        place = bisect_right(self.possible, p * (1 + _NEAR))
        return self.possible[place - 1] if place else 0.0


def lost_issues(
    changes: Sequence[float], issues: Sequence[int], *, level: float = LEVEL
) -> LostIssues:
    """Find the issues that were lost, one by one and together.

    One by one it is the step-down smallest p, in which an issue counts by the largest p that it
    can have at most: one that has too few changed tests weighs nothing. Together it is the exact
    law of the sum of -log p. Either p is doubled, as there are two.

    Args:
        changes: Of compared tests, shape (n,), each in [-1, 1]: new less old.
        issues: Of the same tests.
        level: Two-sided; half of it is that of a loss.

    Raises:
        ValueError: The sequences differ in length, or the level is not within 0 to 1.

    Source: R. E. Tarone (1990), doi:10.2307/2531456 (reachable p); P. H. Westfall, S. S. Young
    (1993), Resampling-Based Multiple Testing (step-down); R. A. Fisher (1932) (sum of logarithms).
    """
    check_lengths(changes=changes, issues=issues)
    check_level(level)
    steps, found = in_steps(changes), np.asarray(changes, dtype=np.float64)
    groups, places = np.unique(np.asarray(issues), return_inverse=True)
    flips = [_flips_of(tuple(sorted(steps[places == k].tolist()))) for k in range(len(groups))]
    order = sorted(range(len(groups)), key=lambda k: (flips[k].p, int(groups[k])))
    ranked = [flips[k] for k in order]
    adjusted = _adjusted(ranked)
    rows = [
        _lost_issue(int(groups[k]), found[places == k], one.p, p)
        for k, one, p in zip(order, ranked, adjusted, strict=True)
    ]
    together = _doubled(_sum_p(ranked))
    p = min([together, *adjusted[:1]])
    named = sum(row.adjusted <= level / 2 for row in rows)
    n = max(named, _carriers(ranked, level / 2)) if together <= level / 2 else named
    rest = tuple(row for row in rows[n:] if row.lost > row.won + _NEAR)
    return LostIssues(p, together, tuple(rows[:n]), named, rest, level)


def are_issues_lost(
    changes: NDArray[np.float64], starts: Sequence[int], *, level: float = LEVEL
) -> bool:
    """Return `is_sure` of `lost_issues` alone.

    Args:
        changes: Of compared tests, issue by issue, shape (n,).
        starts: Where the tests of each issue begin, the first of which does at 0.
    """
    parts = np.split(in_steps(changes), starts[1:])
    ranked = sorted((_flips_of(tuple(sorted(part.tolist()))) for part in parts), key=_p)
    one_by_one = _any_so_low(ranked[0].p, ranked)
    return _doubled(one_by_one) <= level / 2 or _doubled(_sum_p(ranked)) <= level / 2


def _p(one: _Flips) -> float:
    return one.p


def _lost_issue(issue: int, changes: NDArray[np.float64], p: float, adjusted: float) -> LostIssue:
    lost, won = -changes[changes < 0].sum(), changes[changes > 0].sum()
    return LostIssue(issue, float(lost), float(won), len(changes), p, adjusted)


@lru_cache(maxsize=1000)
def _flips_of(steps: tuple[int, ...]) -> _Flips:
    """Return the p-values of an issue: each is the share of flips with a sum at most as high."""
    chances = kept_sums(tuple(sorted(Counter(abs(step) for step in steps if step).items())))
    won = sum(step for step in steps if step > 0)
    sums = np.flatnonzero(chances)
    p = np.minimum(np.cumsum(chances[sums]), 1.0)
    at = int(np.searchsorted(sums, won))
    return _Flips(float(p[at]), tuple(p.tolist()), tuple(chances[sums].tolist()))


def _adjusted(ranked: Sequence[_Flips]) -> list[float]:
    """Return the adjusted p of each issue, which never falls."""
    adjusted, before = [], 0.0
    for place, one in enumerate(ranked):
        before = max(before, _doubled(_any_so_low(one.p, ranked[place:])))
        adjusted.append(before)
    return adjusted


def _any_so_low(p: float, issues: Iterable[_Flips]) -> float:
    """Return the chance that any of these issues has at most this p."""
    reached = [one.reached(p) for one in issues]
    return 1.0 if max(reached) >= 1 else -expm1(sum(log1p(-p) for p in reached))


def _sum_p(ranked: Sequence[_Flips]) -> float:
    """Return the chance that the sum of -log p is at least the one that was found."""
    found = sum(_steps(one.p) for one in ranked)
    if not found:
        return 1.0
    chances = np.zeros(found + 1)
    chances[0] = 1.0
    for one in ranked:
        longer = np.zeros_like(chances)
        for p, chance in zip(one.possible, one.chances, strict=True):
            reach = min(_steps(p), found)
            longer[reach:] += chance * chances[: found + 1 - reach]
            longer[found] += chance * chances[found + 1 - reach :].sum()
        chances = longer
    return float(chances[found])


def _steps(p: float) -> int:
    return int(-log(p) / STEP + _NEAR) if p < 1 else 0


def _carriers(ranked: Sequence[_Flips], level: float) -> int:
    """Return the number of issues, by rising p, without which the rest shows nothing."""
    n = 0
    while n < len(ranked) and ranked[n].p < LIKELY - _NEAR:
        if _doubled(_sum_p(ranked[n:])) > level:
            break
        p = ranked[n].p
        while n < len(ranked) and ranked[n].p <= p * (1 + _NEAR):
            n += 1
    return n


def _doubled(p: float) -> float:
    return min(1.0, 2 * p)
