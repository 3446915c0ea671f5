from collections import defaultdict
from collections.abc import Sequence
from math import fsum, sqrt


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Pearson's correlation of the ranks; equal values share their mean rank.

    Args:
        first: Shape (n,), in any unit.
        second: Values of the same items, in the same order.

    Returns:
        In [-1, 1]; 1 is the same order, -1 the opposite one. None with fewer than two items, or
        if one side is constant.

    Raises:
        ValueError: The sequences differ in length.

    Source: C. Spearman (1904), doi:10.2307/1412159.
    """
    if len(first) != len(second):
        raise ValueError(f"expected values of the same things, got {len(first)}, {len(second)}")
    x, y = _centred_ranks(first), _centred_ranks(second)
    spread = sqrt(fsum(a * a for a in x) * fsum(b * b for b in y))
    if not spread:
        return None
    return min(1.0, max(-1.0, fsum(a * b for a, b in zip(x, y, strict=True)) / spread))


def _centred_ranks(values: Sequence[float]) -> list[float]:
    """Ranks less their mean, (n + 1) / 2; exact, for they are multiples of a half."""
    places: defaultdict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values), start=1):
        places[value].append(place)
    middle = (len(values) + 1) / 2
    rank = {value: (taken[0] + taken[-1]) / 2 - middle for value, taken in places.items()}
    return [rank[value] for value in values]
