"""The exact distribution of a sum whose terms have random signs, on whole steps. Pure."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import erfc, gcd, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalhub.statistics.rates.binomial import at_most

FEW = 200
FINE, COARSE = 840, 60
"""Steps to a change of 1, for at most `FEW` changes and for more: thirds, fifths and the like are
whole. A step never depends on the changes: one that gets smaller then never raises a p."""

MAX_EXACT = 2000
"""Changes of several sizes up to which their sum is counted; of more the normal one is as good."""

Chances = NDArray[np.float64]


class Tails(NamedTuple):
    """Shares of all ways to flip signs: a sum below, at and above the one that was found."""

    below: float
    at: float
    above: float


def in_steps(changes: ArrayLike) -> NDArray[np.int64]:
    """Return changes in [-1, 1], shape (n,), as whole steps with nothing in common."""
    found = np.asarray(changes, dtype=np.float64)
    steps: NDArray[np.int64] = np.round(found * (FINE if found.size <= FEW else COARSE))
    steps = steps.astype(np.int64)
    return steps // (gcd(*steps.tolist()) or 1)


def tails(steps: Iterable[int]) -> Tails:
    """Count the ways to flip the signs of these terms.

    A sum of flipped terms is as far below the found one as the terms that would have to change
    sign: it is told by the sum of the positive sizes that are kept.

    Source: E. J. G. Pitman (1937), doi:10.2307/2984124; counted as by M. Pagano, D. Tritchler
    (1983), doi:10.1080/01621459.1983.10477990.
    """
    terms = [step for step in steps if step]
    won = sum(step for step in terms if step > 0)
    lost = -sum(step for step in terms if step < 0)
    sizes = Counter(map(abs, terms))
    if not terms:
        return Tails(0.0, 1.0, 0.0)
    if len(sizes) == 1:
        (size, n), *_ = sizes.items()
        return _tails(
            at_most(won // size - 1, n, 0.5) if won else 0.0,
            at_most(won // size, n, 0.5),
            at_most(lost // size - 1, n, 0.5) if lost else 0.0,
        )
    if len(terms) > MAX_EXACT:
        far = (won - lost) / sqrt(sum(size**2 * n for size, n in sizes.items()))
        return Tails(erfc(-far / sqrt(2)) / 2, 0.0, erfc(far / sqrt(2)) / 2)
    chances = kept_sums(tuple(sorted(sizes.items())))
    below, above = float(chances[:won].sum()), float(chances[:lost].sum())
    return Tails(below, float(chances[won]), above)


def _tails(below: float, up_to: float, above: float) -> Tails:
    return Tails(below, max(0.0, up_to - below), above)


@lru_cache(maxsize=1000)
def kept_sums(sizes: tuple[tuple[int, int], ...]) -> Chances:
    """Return the chance of each sum, from 0 on, of terms that are kept or left out by chance.

    Args:
        sizes: Each size of term, above 0, with the number of its terms.
    """
    chances = np.ones(1)
    for size, n in sizes:
        for _ in range(n):
            longer = np.zeros(len(chances) + size)
            longer[: len(chances)] = chances
            longer[size:] += chances
            chances = longer / 2
    return chances
