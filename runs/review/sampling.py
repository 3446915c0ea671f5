"""Which answers are drawn at random, and where everything stands in the queue. Pure.

What is drawn depends on the queue's seed and on each result's own number, on nothing else: not on
the order in which results are read, nor on which of them have reasons. The share of the draw is
reckoned from how many have reasons, not counted while drawing, which would favour some.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from runs.review.reasons import RANDOM, REASONS

Rank = tuple[int, int]
"""Gravity, 0 being the gravest, and lightness, 0 being the heaviest."""

ARRIVAL_BITS, LIGHTNESS_BITS, FINE_BITS = 31, 8, 20
MIN_WEIGHT = (1 << LIGHTNESS_BITS) - 1
BY_CHANCE: Rank = (len(REASONS) - 1, MIN_WEIGHT)
assert list(REASONS)[BY_CHANCE[0]] == RANDOM


def lot(seed: int, result: int, purpose: str = "draw") -> int:
    """A number that chance would give this result, from 0 to 2⁶⁴ - 1, always the same."""
    text = f"{purpose}:{seed}:{result}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def how_many(share: float, answered: int, selected: int) -> int:
    """How many to draw from all answered, so that they are about `share` of what is added.

    Those drawn that have reasons besides count once: r = share · (s + r - r·s/n), where s of n
    have reasons. At least one where the share is not 0, so that no run goes unsampled; with a
    share of 1 all are drawn.
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
        """Where among those drawn this lot comes, from 0; None: it was not drawn."""
        at = bisect_left(self.lots, lot)
        return at if at < len(self.lots) and self.lots[at] == lot else None


# Positions ---------------------------------------------------------------------------------------


def inverse_weight(weight: float) -> int:
    """Low for a heavy test, so that it comes first; weights are told apart up to 25.5."""
    return MIN_WEIGHT - min(MIN_WEIGHT, max(0, round(10 * weight)))


def position(rank: Rank, arrival_s: int, fine: float) -> int:
    """Low comes first: by gravity, then as it arrived, then by weight.

    So what is added later comes after what is as grave and was there before, and before what is
    less grave.

    Args:
        arrival_s: Seconds from when the queue was made.
        fine: In [0, 1), the order among those that are alike.
    """
    severity, light = rank
    arrival = min(max(arrival_s, 0), (1 << ARRIVAL_BITS) - 1)
    high = (((severity << ARRIVAL_BITS) | arrival) << LIGHTNESS_BITS) | light
    return (high << FINE_BITS) | int(fine * (1 << FINE_BITS))


class Spread:
    """Where those drawn stand among those that have reasons: evenly, in the order of their lots.

    So whoever stops after any part of the queue has reviewed about the same share of random ones,
    and these are a random sample themselves: what was drawn is placed by its lot alone, be there
    grave reasons besides or not.
    """

    def __init__(self, counts: Mapping[Rank, int], drawn: int) -> None:
        """Args: counts: How many have reasons, by rank. drawn: How many were drawn."""
        self._ranks = sorted(counts)
        self._ends = list(accumulate(counts[rank] for rank in self._ranks))
        self._drawn = drawn

    def at(self, assignment: int) -> tuple[Rank, float]:
        """The rank beside which the one of this place stands, and how far along that rank."""
        share = (assignment + 0.5) / self._drawn
        if not self._ranks:
            return BY_CHANCE, share
        target = share * self._ends[-1]
        at = min(bisect_right(self._ends, target), len(self._ranks) - 1)
        start = self._ends[at - 1] if at else 0
        return self._ranks[at], (target - start) / (self._ends[at] - start)
