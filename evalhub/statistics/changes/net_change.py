"""Whether one run is better or worse on the whole than another on the same tests: A. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.arguments import check_lengths, check_level
from evalhub.statistics.changes.signed_sums import in_steps, tails
from evalhub.statistics.interval import Interval

LEVEL = 0.05
"""Two-sided level of a conclusion on a change."""

MIN_ISSUES = 5
"""Compared issues from which on issues are flipped, too, whichever of them changed."""

ALL_HALVES = 12
"""Issues up to which every half of them is counted; of more they are drawn."""

DRAWS = 20_000
SEED = 1
METHOD = "mid-p sign flips, by test"
METHOD_BY_ISSUE = "mid-p sign flips, the larger p of by test and by issue"

MAY_FAIL_TOGETHER = "Tests of one issue may fail together."

_CELLS = 1_000_000
_FEW_DRAWN = 200
"""Issues up to which drawn halves are kept: 32 MB."""

_BISECTIONS = 60
_NEAR_ZERO = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NetChange:
    """A change on the whole.

    Attributes:
        change: Mean over the tests, in [-1, 1].
        p: Two-sided; the interval leaves 0 out exactly where p is at most the level.
        interval: Of the change. A bound at 0 that p leaves out is the number just beside it.
        tests: Number of compared tests.
        issues: Number of issues that they belong to.
        level: Two-sided, in (0, 1).
    """

    change: float
    p: float
    interval: Interval
    tests: int
    issues: int
    level: float

    @property
    def is_sure(self) -> bool:
        return self.p <= self.level

    @property
    def accounts_for_issues(self) -> bool:
        """Tell whether p and interval hold where tests of one issue change together."""
        return self.issues >= MIN_ISSUES

    @property
    def method(self) -> str:
        return METHOD_BY_ISSUE if self.accounts_for_issues else METHOD

    @property
    def caveat(self) -> str:
        """What p does not account for, as a sentence; "" where there is nothing."""
        is_whole = self.accounts_for_issues or self.issues == self.tests
        return "" if is_whole else MAY_FAIL_TOGETHER


def net_change(
    changes: Sequence[float], issues: Sequence[int], *, level: float = LEVEL
) -> NetChange | None:
    """Measure a change with its p and interval; None where nothing was compared.

    p is the larger of two: by test, and from 5 compared issues on also by issue. Each is the mid-p
    of flipped signs: one more lost test, or one that loses more, never raises the p of a loss.

    The interval is the wider of Tango's score interval and, from 5 issues on, of the means of
    random halves of the issues.

    Args:
        changes: Of compared tests, shape (n,), each in [-1, 1]: new less old.
        issues: Of the same tests.
        level: Two-sided, in (0, 1).

    Raises:
        ValueError: The sequences differ in length, a change is not in [-1, 1], or the level is not
            within 0 to 1.

    Source: T. Tango (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B.
    H. O. Lancaster (1961), doi:10.1080/01621459.1961.10482105 (mid-p). J. P. Romano (1990),
    doi:10.1080/01621459.1990.10474928 (signs of whole groups).
    """
    check_lengths(changes=changes, issues=issues)
    check_level(level)
    found = np.asarray(changes, dtype=np.float64)
    if not found.size:
        return None
    if abs(found).max() > 1 + _NEAR_ZERO:
        raise ValueError(
            f"expected changes between -1 and 1, got {float(found[abs(found).argmax()])}"
        )
    groups, places = np.unique(np.asarray(issues), return_inverse=True)
    p = change_p(found, places, len(groups))
    low, high = _tango(found, level)
    if len(groups) >= MIN_ISSUES:
        tests = np.bincount(places).astype(np.float64)
        halves = _halves(np.bincount(places, found).astype(np.float64), tests, level)
        low, high = min(low, halves.low), max(high, halves.high)
    interval = _decided_by(p <= level, Interval(low, high), int(in_steps(found).sum()))
    return NetChange(float(found.mean()), p, interval, len(found), len(groups), level)


def is_significant(p: float | None, level: float = LEVEL) -> bool:
    """Return whether p is at most the level; False where nothing was compared."""
    return p is not None and p <= level


def changes_needed(comparisons: int, *, level: float = LEVEL) -> int:
    """Return the number of changes, all one way, from which one of so many can be sure (Holm)."""
    check_level(level)
    if comparisons < 1:
        raise ValueError(f"expected 1 or more comparisons, got {comparisons}")
    return ceil(log2(comparisons / level))


def change_p(changes: Floats, places: NDArray[np.int64], issues: int) -> float:
    """Return p of `net_change` alone; `places` are from 0 to the number of compared issues."""
    steps = in_steps(changes)
    if issues < MIN_ISSUES:
        return _mid_p(steps)
    return max(_mid_p(steps), _mid_p(np.bincount(places, steps).astype(np.int64)))


def _mid_p(steps: NDArray[np.int64]) -> float:
    if not steps.sum():
        return 1.0
    below, at, above = tails(steps.tolist())
    return min(1.0, 2 * (min(below, above) + at / 2))


def _decided_by(is_significant: bool, found: Interval, total: int) -> Interval:
    """Return an interval that leaves out 0 exactly if p does."""
    low, high = found
    if not is_significant:
        return Interval(min(low, 0.0), max(high, 0.0))
    if total < 0:
        return Interval(low, min(high, -_NEAR_ZERO))
    return Interval(max(low, _NEAR_ZERO), high)


def _tango(changes: Floats, level: float) -> Interval:
    """Return Tango's score interval, with what was lost and won as weights."""
    n = len(changes)
    lost, won = float(-changes[changes < 0].sum()), float(changes[changes > 0].sum())
    z = NormalDist().inv_cdf(1 - level / 2)
    return Interval(-_tango_bound(lost, won, n, z), _tango_bound(won, lost, n, z))


def _tango_bound(won: float, lost: float, n: int, z: float) -> float:
    """Return the largest change that these counts do not refute."""
    low, high = (won - lost) / n, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        b = -won - lost + (2 * n - won + lost) * middle
        c = -lost * middle * (1 - middle)
        chance = (sqrt(b * b - 8 * n * c) - b) / (4 * n)
        spread = sqrt(max(0.0, n * (2 * chance + middle * (1 - middle))))
        if won - lost - n * middle >= -z * spread:
            low = middle
        else:
            high = middle
    return low


def _halves(sums: Floats, tests: Floats, level: float) -> Interval:
    """Return the middle of the means of random halves of issues."""
    low, high = np.quantile(_half_means(sums, tests), [level / 2, 1 - level / 2])
    return Interval(float(low), float(high))


def _half_means(sums: Floats, tests: Floats) -> Floats:
    g = len(sums)
    if g <= ALL_HALVES:
        masks = np.arange(1, 2**g)[:, np.newaxis] >> np.arange(g) & 1
        return np.asarray(masks @ sums / (masks @ tests))
    drawn = _few_drawn(g) if g <= _FEW_DRAWN else _drawn(g)
    return np.concatenate([some @ sums / (some @ tests) for some in drawn])


@lru_cache(maxsize=4)
def _few_drawn(g: int) -> list[Floats]:
    """Return the halves as numbers, issue by issue, which are multiplied many times faster."""
    return [some.astype(np.float64, order="F") for some in _drawn(g)]


def _drawn(g: int) -> Iterator[NDArray[np.int8]]:
    """Yield random halves of so many issues, shape (n, g), none of them empty."""
    rng = np.random.default_rng(SEED)
    rows = max(1, _CELLS // g)
    for start in range(0, DRAWS, rows):
        some = rng.integers(0, 2, size=(min(rows, DRAWS - start), g), dtype=np.int8)
        yield some[some.any(axis=1)]
