"""The smallest loss that the conclusion of two sides shows, on tests of these issues. Pure.

It is planned with the changes of an earlier pair of runs, never with those that are judged: a
detectable change that is made from the found one repeats its p.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evalhub.display.formatting import counted, percent
from evalhub.statistics.changes.lost_issues import are_issues_lost
from evalhub.statistics.changes.net_change import LEVEL, change_p

POWER = 0.8
ASSUMED = ((1.0, 0.15),)
"""Sizes of changes where none were measured: 15 % of the tests flip."""

MIN_TESTS = 20
"""Tests compared in an earlier pair of runs that suffice to measure how many change."""

MAX_SIMULATED = 500
"""Tests up to which comparisons are simulated: of more the normal approximation is as good."""

LEAST_LOST = 8
"""Tests that must be lost in any case; fewer are hardly shown."""

SEED = 1
DRAWS, MIN_DRAWS = 240, 120
"""Simulated comparisons, of many tests fewer: a power of 80 % has an error of 2.6 to 3.7 points."""

_BATCH, _FAR = 20, 2.5
"""After each batch of draws a power that is so many standard errors from 80 % is decided."""

_PRECISION = 1.04
_STEP = 1.12
_DIGITS = 9

Sizes = tuple[tuple[float, float], ...]
"""Pairs of a size of change, in (0, 1], and the share of tests that change by it."""


@dataclass(frozen=True)
class Detectable:
    """The smallest loss that a comparison shows with 80 % power.

    The model: a test changes with the measured or assumed chance and size, independently of the
    others; a loss turns changes into losses, and where it is larger than all changes, adds some.

    Attributes:
        change: Share of the tests, in (0, 1]; None: not even the loss of all is shown.
        changed: Share of the tests that change without a loss, in [0, 1].
        is_measured: That share is one of an earlier comparison, and not assumed.
        shares_issues: Some tests share an issue.
    """

    change: float | None
    tests: int
    changed: float
    is_measured: bool
    shares_issues: bool

    @property
    def points(self) -> str:
        """The loss in words, such as "8.5 points or more"."""
        if self.change is None:
            return "none"
        return f"{100 * self.change:.1f}".removesuffix(".0") + " points or more"

    def note(self, measured: str) -> str:
        """Return the basis of the figure, and its caveat.

        Args:
            measured: Where the share of changes was measured, such as "measured from A to B".
        """
        source = measured if self.is_measured else "assumed"
        basis = f"{percent(self.changed)} of {counted(self.tests, 'test')} change ({source})"
        if self.change is None:
            return f"If {basis}, not even the loss of all of them is shown in 80%."
        caveat = " Less often if tests of one issue fail together." if self.shares_issues else ""
        return f"Shown in 80% if {basis}, each by itself.{caveat}"


@dataclass(frozen=True)
class Plan:
    """All that the detectable change of a comparison depends on.

    Attributes:
        tests: Number of tests of each issue, rising.
        sizes: Of changes, and the shares of tests that change by them.
        is_measured: They are those of an earlier comparison, and not assumed.
        level: Of the conclusion, two-sided.
    """

    tests: tuple[int, ...]
    sizes: Sizes
    is_measured: bool
    level: float = LEVEL

    @classmethod
    def of(cls, tests: Iterable[int], changes: Sequence[float], level: float = LEVEL) -> "Plan":
        """Return the plan.

        Args:
            tests: Number of tests of each issue, of one at least.
            changes: Of each test of an earlier pair of runs; with fewer than 20 the usual share is
                assumed.
        """
        per_issue = tuple(sorted(tests))
        is_measured = len(changes) >= MIN_TESTS
        sizes = sizes_of(changes) if is_measured else ASSUMED
        return cls(per_issue, sizes, is_measured, level)

    def inputs(self) -> list[object]:
        """Return the plan as JSON."""
        return [self.tests, self.sizes, self.is_measured, self.level]

    def detectable(self) -> Detectable:
        return Detectable(
            change=detectable_change(self.tests, self.sizes, level=self.level),
            tests=sum(self.tests),
            changed=sum(share for _, share in self.sizes),
            is_measured=self.is_measured,
            shares_issues=self.tests[-1] > 1,
        )


def sizes_of(changes: Sequence[float]) -> Sizes:
    """Return how many tests of a comparison changed, and by how much; directions do not matter."""
    n = len(changes)
    counts = Counter(round(abs(change), _DIGITS) for change in changes)
    return tuple(sorted((size, times / n) for size, times in counts.items() if size))


def detectable_change(
    tests: tuple[int, ...], sizes: Sizes, *, level: float = LEVEL
) -> float | None:
    """Return the loss that is concluded with 80 % power, as a share of tests, by seeded simulation.

    Args:
        tests: Number of tests of each issue.
        sizes: Of changes, and the shares of tests that change by them.
        level: Of the conclusion, two-sided.

    Returns:
        In (0, 1]; None if not even a loss of all is concluded so often.
    """
    n = sum(tests)
    sizes = sizes or ((1.0, 1 / n),)
    mean = sum(size * share for size, share in sizes)
    near = _normal(n, sizes, level) / mean
    if n > MAX_SIMULATED:
        return max(mean * near, LEAST_LOST / n)
    simulated = _Simulated(tests, sizes, level)
    most = 1 / sum(share for _, share in sizes)
    low = high = min(near, most)
    if simulated.is_enough(high):
        while low > 0.01 * high and simulated.is_enough(low := low / _STEP):
            high = low
    else:
        while not simulated.is_enough(high := min(most, high * _STEP)):
            if high == most:
                return None
            low = high
    while high > _PRECISION * low:
        middle = sqrt(low * high)
        low, high = (low, middle) if simulated.is_enough(middle) else (middle, high)
    return mean * high


def _normal(tests: int, sizes: Sizes, level: float) -> float:
    """Return the detectable loss by the normal approximation, for independent tests."""
    z = NormalDist().inv_cdf
    variance = sum(size**2 * share for size, share in sizes)
    return (z(1 - level / 2) + z(POWER)) * sqrt(variance / tests)


class _Simulated:
    """Comparisons whose chances are drawn once, so that a larger loss is shown more often."""

    def __init__(self, tests: tuple[int, ...], sizes: Sizes, level: float) -> None:
        rng = np.random.default_rng(SEED)
        n, shares = sum(tests), np.array([share for _, share in sizes])
        draws = min(DRAWS, max(MIN_DRAWS, MIN_DRAWS * 200 // n))
        self._level, self._n_issues = level, len(tests)
        self._issues = np.repeat(np.arange(len(tests)), tests)
        self._starts = np.cumsum([0, *tests[:-1]]).tolist()
        self._changed = shares.sum()
        self._changes, self._directions = rng.random((2, draws, n))
        self._sizes = rng.choice([size for size, _ in sizes], (draws, n), p=shares / shares.sum())

    def is_enough(self, extent: float) -> bool:
        """Tell whether a loss is concluded in 80 % of comparisons.

        Args:
            extent: Of the loss: 1 turns all changes into losses, more adds as many.
        """
        changed = self._changes < self._changed * max(1.0, extent)
        lost = self._directions < (1 + min(1.0, extent)) / 2
        changes = np.where(changed, np.where(lost, -self._sizes, self._sizes), 0.0)
        shown = 0
        for draw, one in enumerate(changes, 1):
            shown += self._is_shown(one)
            if not draw % _BATCH and abs(shown / draw - POWER) > _FAR * 0.4 / sqrt(draw):
                break
        return shown >= POWER * draw

    def _is_shown(self, changes: NDArray[np.float64]) -> bool:
        is_lower = changes.sum() < 0
        if is_lower and change_p(changes, self._issues, self._n_issues) <= self._level:
            return True
        return are_issues_lost(changes, self._starts, level=self._level)
