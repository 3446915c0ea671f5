"""The order of a queue's items: severe reasons first, random items spread evenly. Pure."""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from runs.review.reasons import RANDOM, REASONS

Rank = tuple[int, int]
"""Severity, from 0 for the most severe, and inverse weight, from 0 for the heaviest."""

ARRIVAL_BITS, LIGHTNESS_BITS, FINE_BITS = 31, 8, 20
MIN_WEIGHT = (1 << LIGHTNESS_BITS) - 1
BY_CHANCE: Rank = (len(REASONS) - 1, MIN_WEIGHT)
assert list(REASONS)[BY_CHANCE[0]] == RANDOM


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
