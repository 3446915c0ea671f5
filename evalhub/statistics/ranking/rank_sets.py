from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from evalhub.statistics.changes.net_change import LEVEL

Item = TypeVar("Item", bound=Hashable)


class Pair(NamedTuple):
    first: Hashable
    second: Hashable
    difference: float
    """First minus second, in any unit; above 0 the first is better."""
    p: float | None
    """Two-sided, corrected for all pairs (`holm`); None: not compared."""


class RankSet(NamedTuple):
    """The possible ranks of an item; 1 is the best. best <= worst."""

    best: int
    worst: int


def rank_sets(
    items: Sequence[Item], pairs: Iterable[Pair], *, alpha: float = LEVEL
) -> dict[Item, RankSet]:
    """Return each item's ranks, from 1 + significantly better ones to m - significantly worse ones.

    With p-values that are corrected over all pairs, the sets hold the true ranks of all m at once
    with confidence 1 - alpha.

    Args:
        items: Ranked items, shape (m,), each once.
        pairs: Each pair of items at most once. A pair that is missing, or has no p or difference,
            does not set its items apart.
        alpha: A pair is set apart if p <= alpha (to 1e-9).

    Returns:
        Each item's set, in the given order; (1, m) without information.

    Raises:
        ValueError: A pair has an unknown item, the same item twice, or is repeated.

    Source: M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), doi:10.1093/restud/rdad006,
    section 3: simultaneous two-sided confidence sets, here by Holm instead of the bootstrap.
    """
    better: dict[Hashable, int] = dict.fromkeys(items, 0)
    worse: dict[Hashable, int] = dict.fromkeys(items, 0)
    for pair in _checked(pairs, set(items)):
        if pair.p is None or pair.difference == 0 or round(pair.p, 9) > alpha:
            continue
        upper, lower = pair[:2] if pair.difference > 0 else (pair.second, pair.first)
        better[lower] += 1
        worse[upper] += 1
    return {item: RankSet(1 + better[item], len(items) - worse[item]) for item in items}


def _checked(pairs: Iterable[Pair], items: set[Item]) -> Iterable[Pair]:
    seen: set[frozenset[Hashable]] = set()
    for pair in pairs:
        both = frozenset(pair[:2])
        if len(both) < 2 or not both <= items or both in seen:
            raise ValueError(
                f"expected each pair of two different items once, got {pair.first!r}, "
                f"{pair.second!r}"
            )
        seen.add(both)
        yield pair
