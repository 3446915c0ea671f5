"""Cohen's kappa: agreement of two raters beyond chance.

It is computed from the confusion counts, which add up: those of several judge runs, summed, give
exactly the kappa of all their ratings together.

Source: J. Cohen (1960), doi:10.1177/001316446002000104; weighted: (1968), doi:10.1037/h0026256.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

Confusion = dict[tuple[float, float], int]
Weights = Literal["plain", "linear", "quadratic"]

_PENALTIES: dict[Weights, Callable[[int], float]] = {
    "plain": lambda steps: float(steps != 0),
    "linear": lambda steps: float(abs(steps)),
    "quadratic": lambda steps: float(steps**2),
}


def confusion(first: Sequence[float | None], second: Sequence[float | None]) -> Confusion:
    """Count pairs of ratings (first, second) of the same items; None in either drops the pair.

    Raises:
        ValueError: The sequences, both of shape (n,) and in one order, differ in length.
    """
    if len(first) != len(second):
        raise ValueError(f"expected ratings of the same things, got {len(first)}, {len(second)}")
    pairs = zip(first, second, strict=True)
    return dict(Counter((a, b) for a, b in pairs if a is not None and b is not None))


def kappa_from_confusion(
    counts: Mapping[tuple[float, float], int],
    *,
    weights: Weights = "plain",
    levels: Sequence[float] | None = None,
) -> float | None:
    """Return 1 - Σ w_ij·o_ij / Σ w_ij·e_ij, with penalties w and chance agreement e.

    Args:
        counts: From `confusion`, or several of them added up.
        weights: The penalty of a disagreement: always equal (plain), or by the steps between the
            values on the scale (linear), or by the steps squared (quadratic).
        levels: The scale's values in ascending order. None: only the values used, so that
            unused values are no steps.

    Returns:
        Kappa, dimensionless, at most 1; 1 is full agreement and 0 is chance. None without
        pairs, or if both raters used a single value throughout: chance agreement is then 1 and
        kappa undefined.

    Raises:
        ValueError: A value is not among the levels.
    """
    step = _steps(counts, levels)
    penalty = _PENALTIES[weights]
    rows, columns = _totals(counts)
    observed = sum(count * penalty(step[a] - step[b]) for (a, b), count in counts.items())
    expected = sum(rows[a] * columns[b] * penalty(step[a] - step[b]) for a in rows for b in columns)
    return 1 - observed * sum(rows.values()) / expected if expected else None


def _steps(
    counts: Mapping[tuple[float, float], int], levels: Sequence[float] | None
) -> dict[float, int]:
    used = {value for pair in counts for value in pair}
    known = sorted(used) if levels is None else levels
    if strange := used.difference(known):
        raise ValueError(f"values {sorted(strange)} are not among the levels {list(known)}")
    return {value: position for position, value in enumerate(known)}


def _totals(counts: Mapping[tuple[float, float], int]) -> tuple[Counter[float], Counter[float]]:
    rows: Counter[float] = Counter()
    columns: Counter[float] = Counter()
    for (a, b), count in counts.items():
        rows[a] += count
        columns[b] += count
    return rows, columns
