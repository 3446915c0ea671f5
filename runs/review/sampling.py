"""The random sample of a queue. Pure.

The draw depends only on the queue's seed and each result's id: not on the order of reading, nor on
reasons. The size of the sample is computed from the number of results with reasons, not counted
while drawing, which would favour some.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple


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
