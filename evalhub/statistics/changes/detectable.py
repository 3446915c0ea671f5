"""The smallest net change that the test of a change detects, on tests of these issues."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from evalhub.display.formatting import percent
from evalhub.statistics.changes.change_test import ALPHA, MIN_CHANGED, flipped_units, is_significant
from evalhub.statistics.changes.flip_distribution import flipped_p
from evalhub.statistics.changes.mcnemar_power import POWER, detectable_by_mcnemar

ASSUMED = ((1.0, 0.15),)
"""Sizes of changes where none were measured: 15 % of the tests flip."""

MIN_TESTS = 20
"""Tests compared in an earlier pair of runs that suffice to measure how many change."""

SEED = 1
DRAWS = 600
"""Simulated comparisons; the standard error of a power of 80 % is then 1.6 points."""

_MIN_DRAWS = 200
_MAX_CHANGES = 1_000_000
"""Changes simulated at most: of very many tests fewer comparisons are drawn."""

_NEAR = (1.1, 1.3, 0.95)
"""Parts of the change by the normal approximation that are tried first."""

_PRECISION = 0.02
"""Of the change, as a part of it: about the simulation's own error."""

_FAR_OUT = sqrt(2 * log(2 / ALPHA))
_DIGITS = 9

Sizes = tuple[tuple[float, float], ...]
"""Pairs of a size of change, in (0, 1], and the share of tests that change by it."""


@dataclass(frozen=True)
class Detectable:
    """The smallest net change that a comparison detects with 80 % power.

    The model: a test changes with the measured or assumed chance and size, independently of the
    others; a net change shifts the directions of changes.

    Attributes:
        change: Share of the tests, in (0, 1]; None: not even changes all in one direction are
            detected that often.
        changed: Share of the tests that change, in [0, 1].
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
        """The change in words, such as "8.5 points or more"."""
        if self.change is None:
            return "none"
        return f"{100 * self.change:.1f}".removesuffix(".0") + " points or more"

    def note(self, measured: str) -> str:
        """Return the basis of the figure, and its caveat.

        Args:
            measured: Where the share of changes was measured, such as "measured from A to B".
        """
        source = measured if self.is_measured else "assumed"
        tests = "1 test" if self.tests == 1 else f"{self.tests:,} tests"
        basis = f"{percent(self.changed)} of {tests} change ({source}), independently"
        if self.change is None:
            return f"If {basis}, not even changes all in one direction have 80% power."
        caveat = " Less power if tests of one issue fail together." if self.shares_issues else ""
        return f"80% power if {basis}.{caveat}"


def sizes_of(changes: Sequence[float]) -> Sizes:
    """Return how many tests of a comparison changed, and by how much; directions do not matter."""
    n = len(changes)
    counts = Counter(round(abs(change), _DIGITS) for change in changes)
    return tuple(sorted((size, times / n) for size, times in counts.items() if size))


def detectable_of(issues: Sequence[int], changes: Sequence[float]) -> Detectable | None:
    """Return what a comparison of tests of these issues detects; None without tests.

    Args:
        issues: The issue of each test to be compared, shape (n,).
        changes: Of each test of the last comparable pair of runs; with fewer than 20 the usual
            share is assumed.
    """
    if not issues:
        return None
    is_measured = len(changes) >= MIN_TESTS
    sizes = sizes_of(changes) if is_measured else ASSUMED
    per_issue = tuple(sorted(Counter(issues).values()))
    return Detectable(
        change=detectable_change(per_issue, sizes),
        tests=len(issues),
        changed=sum(share for _, share in sizes),
        is_measured=is_measured,
        shares_issues=per_issue[-1] > 1,
    )


def measured_from(first: str, second: str) -> str:
    """Name the pair of runs whose changes were counted."""
    return f"measured from {first} to {second}"


@lru_cache(maxsize=256)
def detectable_change(tests: tuple[int, ...], sizes: Sizes) -> float | None:
    """Return the net change that `change_test` detects with 80 % power, as a share of tests.

    With one answer per test it is enumerated where tests are flipped in any case: each has an
    issue of its own, or there are fewer than 6 issues. Else it is simulated with a fixed seed.

    Args:
        tests: Number of tests of each issue.
        sizes: Of changes, and the shares of tests that change by them.

    Returns:
        In (0, Σ size · share]; None if not even that is detectable.
    """
    most = sum(size * share for size, share in sizes)
    if not most:
        return None
    by_test_only = len(tests) < MIN_CHANGED or max(tests) == 1
    if by_test_only and [size for size, _ in sizes] == [1.0]:
        return detectable_by_mcnemar(sum(tests), most)
    simulated = _Simulated(tests, sizes)
    normal = _normal(sum(tests), sizes) / most
    low, high = 0.0, 1.0
    for near in _NEAR:
        bias = near * normal
        if low < bias < high:
            low, high = (low, bias) if simulated.power(bias) >= POWER else (bias, high)
    if high == 1 and simulated.power(1.0) < POWER:
        return None
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if simulated.power(middle) >= POWER else (middle, high)
    return most * high


def _normal(tests: int, sizes: Sizes) -> float:
    """Return the detectable change by the normal approximation, for independent tests."""
    z = NormalDist().inv_cdf
    variance = sum(size**2 * share for size, share in sizes)
    return (z(1 - ALPHA / 2) + z(POWER)) * sqrt(variance / tests)


class _Simulated:
    """Comparisons of which the sizes of changes are drawn once, so that power rises with the bias.

    `starts` are the first changes of each draw, and one past the last.
    """

    def __init__(self, tests: tuple[int, ...], sizes: Sizes) -> None:
        rng = np.random.default_rng(SEED)
        n, changed = sum(tests), sum(share for _, share in sizes)
        most = int(_MAX_CHANGES / max(1.0, n * changed))
        draws = min(DRAWS, max(_MIN_DRAWS, most))
        places = _bernoulli(draws * n, min(1.0, changed), rng)
        issue_of = np.repeat(np.arange(len(tests)), tests)
        shares = np.array([share for _, share in sizes])
        self._issues = issue_of[places % n]
        self._sizes = rng.choice(
            [size for size, _ in sizes], size=len(places), p=shares / shares.sum()
        )
        self._chances = rng.random(len(places))
        self._starts = np.searchsorted(places // n, np.arange(draws + 1))

    def power(self, bias: float) -> float:
        """Return the share of comparisons that find a change.

        Args:
            bias: Share of changes for the better less that for the worse, in [0, 1].
        """
        changes = np.where(self._chances < (1 + bias) / 2, self._sizes, -self._sizes)
        return fmean(
            _is_found(changes[start:end], self._issues[start:end])
            for start, end in zip(self._starts[:-1], self._starts[1:], strict=True)
        )


def _bernoulli(n: int, chance: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the places of successes among n trials, by the gaps between them."""
    expected = n * chance
    gaps = rng.geometric(chance, size=int(expected + 10 * sqrt(expected + 1) + 10))
    places = np.cumsum(gaps) - 1
    return places[places < n]


def _is_found(changes: NDArray[np.float64], issues: NDArray[np.int64]) -> bool:
    """Return whether the test finds a change in these tests, all of which changed.

    Far out p need not be counted (W. Hoeffding, 1963: p <= 2·exp(-z²/2)).
    """
    units = flipped_units(changes, issues).terms
    if len(units) < MIN_CHANGED:
        return False
    if abs(units.sum()) >= _FAR_OUT * sqrt(float((units**2).sum())):
        return True
    return is_significant(flipped_p(units.tolist()))
