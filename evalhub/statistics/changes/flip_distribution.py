"""The exact distribution of a sum whose terms have random signs."""

from collections import Counter
from collections.abc import Sequence
from math import erfc, gcd, log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalhub.statistics.arguments import check_level
from evalhub.statistics.rates.binomial import at_most

MAX_EXACT = 2000
"""Terms up to which the distribution is counted; of more the normal one is as good."""

STEPS = 250
"""Steps to a standard deviation of the sum, where terms are not multiples of one another."""

MAX_STEPS = 20_000
"""Sum of whole steps up to which no term is rounded."""

_TOLERANCE = 1e-9
_NEAR = 1e-6
_TINY = 1e-100
_FEW = 60
_DIVISORS = np.arange(1, 13)


def flipped_p(terms: Sequence[float]) -> float:
    """Return the two-sided p of a sum, if each term could as well have had the other sign.

    It is the share of the 2^k ways to flip signs with a sum at least as far from 0. All ways are
    counted, not drawn: a p may be as small as 2 / 2^k, whatever number of comparisons it is
    corrected for. Of terms of one size it is McNemar's exact test. Terms that are not multiples of
    one another are rounded to a 250th of the sum's standard deviation: the p is exact for the
    rounded sum. Of more than 2000 terms of several sizes p is that of the normal distribution.

    Args:
        terms: Shape (n,), in any unit, such as paired differences; zeros are left out.

    Returns:
        p in (0, 1]; 1 without terms other than 0.

    Source: E. J. G. Pitman (1937), doi:10.2307/2984124; counted as by M. Pagano, D. Tritchler
    (1983), doi:10.1080/01621459.1983.10477990. Q. McNemar (1947), doi:10.1007/BF02295996.
    """
    found = np.asarray(terms, dtype=np.float64)
    largest = float(abs(found).max(initial=0))
    if not largest:
        return 1.0
    found = found[abs(found) > _TOLERANCE * largest]
    if largest < _TINY:  # squares of which are 0
        found = found / largest
    if len(found) > _FEW and np.ptp(abs(found)) <= _TOLERANCE * largest:
        rarer = min(int((found < 0).sum()), int((found > 0).sum()))
        return max(min(1.0, 2 * at_most(rarer, len(found), 0.5)), least_p(MAX_EXACT // 2))
    if len(found) > MAX_EXACT:
        far = abs(float(found.sum())) / sqrt(float((found**2).sum()))
        return max(erfc(far / sqrt(2)), least_p(MAX_EXACT // 2))
    steps = _steps(found)
    total = int(abs(steps.sum()))
    sizes = Counter(abs(steps[steps != 0]).tolist())
    return min(1.0, _tail(sizes, total))


def _steps(terms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the terms in whole steps: parts of the smallest, or of 1, if all are; else rounded."""
    for units in (np.ones(1), abs(terms).min() / _DIVISORS):
        multiples = terms / units[:, np.newaxis]
        whole = np.round(multiples)
        sizes = abs(whole)
        are_steps = (sizes.min(axis=1) >= 1) & (sizes.sum(axis=1) <= MAX_STEPS)
        are_steps &= (abs(multiples - whole) <= _NEAR).all(axis=1)
        if are_steps.any():
            steps: NDArray[np.int64] = whole[are_steps.argmax()].astype(np.int64)
            return steps // max(1, gcd(*abs(steps).tolist()))
    step = sqrt(float((terms**2).sum())) / STEPS
    return np.round(terms / step).astype(np.int64)


def _tail(sizes: Counter[int], total: int) -> float:
    """Return P(|Σ ± size| >= total): the kept terms sum to at least (all + total) / 2, or mirrored.

    `chances[i]` is the chance that the kept terms sum to i.
    """
    everything = sum(size * n for size, n in sizes.items())
    chances = np.ones(1)
    for size, n in sorted(sizes.items()):
        for _ in range(n):
            longer = np.zeros(len(chances) + size)
            longer[: len(chances)] = chances
            longer[size:] += chances
            chances = longer / 2
    if not total:
        return 1.0
    least = -(-(everything + total) // 2)
    return max(2 * float(chances[least:].sum()), least_p(MAX_EXACT // 2))


def least_p(n: int) -> float:
    """Return the smallest p that n terms other than 0 can have: all of one sign, 2 / 2^n."""
    return min(1.0, 2.0 ** (1 - n))


def terms_needed(comparisons: int, *, level: float = 0.95) -> int:
    """Return the number of terms from which one of so many comparisons can be significant (Holm).

    Args:
        comparisons: m, 1 or more, corrected for together.
    """
    check_level(level)
    if comparisons < 1:
        raise ValueError(f"expected 1 or more comparisons, got {comparisons}")
    needed = int(1 + log2(comparisons / (1 - level)))
    return needed if least_p(needed) * comparisons <= 1 - level else needed + 1


MIN_CHANGED = terms_needed(1)
"""6: with fewer changes, even all in one direction, p is at least 2 / 2**5, above 0.05."""


class Flipped(NamedTuple):
    """The units whose signs are flipped: the sums of whole issues, or tests; without zeros."""

    terms: NDArray[np.float64]
    is_by_issue: bool


def flipped_units(
    changes: ArrayLike,
    issues: NDArray[np.int64],
    *,
    changed_only: bool = True,
    least: int = MIN_CHANGED,
) -> Flipped:
    """Return the units of evidence: whole issues where there are enough, else tests.

    The choice depends on the sizes of the changes alone, which no flip of signs alters, so that
    either test keeps its level.

    Args:
        changes: Of tests, shape (n,).
        issues: Of the same tests, as numbers, shape (n,).
        changed_only: Only issues with tests that changed are counted.
        least: So many issues are enough.
    """
    found = np.asarray(changes, dtype=np.float64)
    changed = abs(found) > _TOLERANCE
    terms = found[changed]
    moved, places = np.unique(issues[changed], return_inverse=True)
    if len(moved if changed_only else np.unique(issues)) < least:
        return Flipped(terms, is_by_issue=False)
    sums = np.bincount(places, terms, minlength=len(moved)).astype(np.float64)
    return Flipped(sums[abs(sums) > _TOLERANCE], is_by_issue=True)
