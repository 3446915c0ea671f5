"""The random sample of a queue, and the order of its items. Pure.

The draw depends only on the queue's seed and each result's id: not on the order of reading, nor on
reasons. The size of the sample is computed from the number of results with reasons, not counted
while drawing, which would favour some. Severe reasons come first, and random items are spread
evenly among them.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from runs.review.reasons import RANDOM, REASONS

Rank = tuple[int, int]
"""Severity, from 0 for the most severe, and inverse weight, from 0 for the heaviest."""

ARRIVAL_BITS, LIGHTNESS_BITS, FINE_BITS = 31, 8, 20
MIN_WEIGHT = (1 << LIGHTNESS_BITS) - 1
BY_CHANCE: Rank = (len(REASONS) - 1, MIN_WEIGHT)
assert list(REASONS)[BY_CHANCE[0]] == RANDOM


def lot(seed: int, result: int, purpose: str = "draw") -> int:
    """Return a pseudo-random number for this result, from 0 to 2⁶⁴ - 1, always the same."""
    text = f"{purpose}:{seed}:{result}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def how_many(share: float, answered: int, selected: int) -> int:
    """Return the sample size for which random items are about `share` of those added.

    Items with reasons besides count once: r = share · (s + r - r·s/n), where s of n have reasons.
    At least one unless the share is 0, so that every run is sampled; all with a share of 1.
    """
    if not answered or share <= 0:
        return 0
    if share >= 1:
        return answered
    fair = share * selected / (1 - share * (1 - selected / answered))
    return min(answered, max(1, round(fair)))


class Draw(NamedTuple):
    """The lots that were drawn, in order."""

    lots: list[int]

    @classmethod
    def of(cls, lots: Iterable[int], count: int) -> "Draw":
        return cls(sorted(lots)[:count])

    def position_of(self, lot: int) -> int | None:
        """Return the position of a lot in the draw, from 0; None if it was not drawn."""
        at = bisect_left(self.lots, lot)
        return at if at < len(self.lots) and self.lots[at] == lot else None


# Order -------------------------------------------------------------------------------------------


def inverse_weight(weight: float) -> int:
    """Return a low number for a heavy test, which comes first; weights differ up to 25.5."""
    return MIN_WEIGHT - min(MIN_WEIGHT, max(0, round(10 * weight)))


def position(rank: Rank, arrival_s: int, fine: float) -> int:
    """Return an item's position: by severity, then arrival, then weight; low comes first.

    Later items come after earlier ones of the same severity, and before less severe ones.

    Args:
        arrival_s: Seconds since the queue was created.
        fine: In [0, 1), the order among equals.
    """
    severity, light = rank
    arrival = min(max(arrival_s, 0), (1 << ARRIVAL_BITS) - 1)
    high = (((severity << ARRIVAL_BITS) | arrival) << LIGHTNESS_BITS) | light
    return (high << FINE_BITS) | int(fine * (1 << FINE_BITS))


class Spread:
    """The even spread of random items among those with reasons, in the order of their lots.

    After any part of the queue, about the same share of random items has been reviewed, and these
    are a random sample themselves: a random item is placed by its lot alone, whatever its reasons.
    """

    def __init__(self, counts: Mapping[Rank, int], drawn: int) -> None:
        """Spread `drawn` items over `counts`, the numbers of results with reasons by rank."""
        self._ranks = sorted(counts)
        self._ends = list(accumulate(counts[rank] for rank in self._ranks))
        self._drawn = drawn

    def at(self, place: int) -> tuple[Rank, float]:
        """Return the rank of the random item at this position, and how far along it is."""
        share = (place + 0.5) / self._drawn
        if not self._ranks:
            return BY_CHANCE, share
        target = share * self._ends[-1]
        at = min(bisect_right(self._ends, target), len(self._ranks) - 1)
        start = self._ends[at - 1] if at else 0
        return self._ranks[at], (target - start) / (self._ends[at] - start)
