"""Which pairs people read, when they look at the result, and how many more would do. Pure.

A pair is both answers to one test, read by one person. Budget, looks and chances are fixed before
the first reading, and never depend on what was read.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from math import ceil, sqrt
from statistics import median
from typing import NamedTuple

import numpy as np

from evalhub.statistics.people.anchored import Anchored
from evalhub.statistics.people.sides import Floats
from evalhub.statistics.student import student_quantile

BUDGET = 125
"""Pairs of a plan, unless another number is chosen."""

FIRST_LOOK = 25
"""Pairs that are read before anybody looks."""

LEVELS = {1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158}
"""Two-sided level of each look, by their number: together they are wrong in 5 %.

Source: S. J. Pocock (1977), doi:10.1093/biomet/64.2.191.
"""

LEAST_OF_STRATUM = 5
SECONDS = 15.0
"""Assumed for an answer until `MEASURED` of them were timed."""

MEASURED, RECENT = 20, 50


class Word(StrEnum):
    """What a look shows of the second run."""

    BETTER = "better"
    WORSE = "worse"
    NO_WORSE = "no_worse"
    UNDECIDED = "undecided"


class Looks(NamedTuple):
    """When a plan is looked at: `pairs` read at each look, rising, and the level of each."""

    pairs: tuple[int, ...]
    level: float

    def next_after(self, read: int) -> int | None:
        """Return how many pairs must be read for the next look; None: the last one is due."""
        return next((pairs for pairs in self.pairs if pairs > read), None)

    def last_at(self, read: int) -> int | None:
        """Return the pairs of the last look that is due; None: none is."""
        return max((pairs for pairs in self.pairs if pairs <= read), default=None)


def looks_of(budget: int = BUDGET) -> Looks:
    """Return the looks of a plan: at its fifths, the first of them at 25 pairs or more.

    Raises:
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"expected a budget of 1 pair or more, got {budget}")
    fifths = (ceil(budget * place / 5) for place in range(1, 6))
    pairs = tuple(sorted({max(one, min(FIRST_LOOK, budget)) for one in fifths}))
    return Looks(pairs, LEVELS[len(pairs)])


class Allotment(NamedTuple):
    """Pairs to read of tests that are telling, and of plain ones."""

    telling: int
    plain: int


def allotment(pairs: int, telling: int, plain: int) -> Allotment:
    """Share out pairs: a telling test has twice the chance of a plain one, 5 of each at least.

    Args:
        pairs: To read, in all.
        telling, plain: Tests of each kind.

    Returns:
        No more than there are of either kind.

    Raises:
        ValueError: A number is negative.
    """
    if min(pairs, telling, plain) < 0:
        raise ValueError(f"expected numbers of 0 or more, got {pairs}, {telling}, {plain}")
    pairs = min(pairs, telling + plain)
    least, least_plain = (min(LEAST_OF_STRATUM, n) for n in (telling, plain))
    chosen = ceil(2 * telling * pairs / (plain + 2 * telling)) if telling else 0
    chosen = max(least, min(chosen, pairs - least_plain))
    chosen = min(telling, max(chosen, pairs - plain), pairs)
    return Allotment(chosen, pairs - chosen)


def drawn_pairs(
    telling: Sequence[int],
    plain: Sequence[int],
    looks: Looks,
    *,
    seed: int,
    read: Collection[int] = (),
) -> list[int]:
    """Draw the tests whose pairs are read, look by look, by lot within each kind.

    Args:
        telling, plain: Tests of either kind.
        seed: Of the lots.
        read: Tests that were read before in these strata; they come first, and count.

    Returns:
        As many tests as the last look has pairs, or all.
    """
    rng = np.random.default_rng(seed)
    known = frozenset(read)
    queues = [
        sorted(rng.permutation(sorted(kind)).tolist(), key=lambda test: test not in known)
        for kind in (telling, plain)
    ]
    order: list[int] = []
    for pairs in looks.pairs:
        wanted = allotment(pairs, len(telling), len(plain))
        due = [test for queue, n in zip(queues, wanted, strict=True) for test in queue[:n]]
        new = [test for test in due if test not in set(order)]
        order += rng.permutation(new).tolist()
    return order


def word_of(change: Anchored, *, margin: float | None = None) -> Word:
    """Return what a look shows: it stops where the interval leaves out 0, or the margin's loss.

    Args:
        change: At the level of a look.
        margin: Loss that is allowed, in (0, 1]; None: better or worse is asked for.
    """
    low, high = change.interval
    if low > 0:
        return Word.BETTER
    if high < 0:
        return Word.WORSE
    return Word.NO_WORSE if margin is not None and low > -margin else Word.UNDECIDED


class Forecast(NamedTuple):
    """What more reading would do.

    Attributes:
        pairs: At most about so many in all settle it, if the difference is what it seems; None:
            reading will not settle it.
        reach: Half the width of the interval if all were read.
    """

    pairs: int | None
    reach: float


def forecast(
    change: Anchored, differences: Floats, chances: Floats, pairs: int, *, target: float = 0.0
) -> Forecast:
    """Forecast how many pairs settle a change, from those that were read.

    The variance is that of all pairs and, of what is read, more: v = v_all + v_label (1/n - 1/N).

    Args:
        change: At a look.
        differences: Readings of the second answer less those of the first, of each read pair,
            shape (n,), in [-1, 1].
        chances: With which these pairs are read, in (0, 1].
        pairs: All pairs of the comparison, n or more.
        target: The change that is to be told from the estimate, in [-1, 1].

    Raises:
        ValueError: No pair was read, or more than there are.
    """
    n = len(differences)
    if not 0 < n <= pairs:
        raise ValueError(f"expected 1 to {pairs} read pairs, got {n}")
    weights = (1 / chances) / (1 / chances).sum()
    of_all = float(weights @ (differences - change.estimate) ** 2) / pairs
    t = student_quantile(1 - change.level, change.freedom)
    reach = t * sqrt(of_all)
    wanted = ((change.estimate - target) / t) ** 2
    if n == pairs or wanted <= of_all:
        return Forecast(None, reach)
    of_label = max(0.0, change.standard_error**2 - of_all) / (1 / n - 1 / pairs)
    if not of_label:
        return Forecast(n, reach)
    needed = ceil(1 / ((wanted - of_all) / of_label + 1 / pairs))
    return Forecast(min(pairs, needed), reach)


def reading_minutes(answers: int, seconds: Sequence[float] = ()) -> float:
    """Return how long so many answers take, in minutes.

    Args:
        seconds: Of the queue's latest reviews, oldest first; fewer than 20 say nothing yet.
    """
    each = median(seconds[-RECENT:]) if len(seconds) >= MEASURED else SECONDS
    return answers * each / 60
