"""Krippendorff's alpha: agreement of any number of raters beyond chance, with missing ratings.

It is computed from the coincidence matrix, which adds up: the matrices of several judge runs,
summed, give exactly the alpha of all their ratings together.

Source: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, permutations
from typing import Literal

Coincidences = dict[tuple[float, float], float]
Level = Literal["nominal", "ordinal", "interval"]


def coincidences(units: Iterable[Sequence[float | None]]) -> Coincidences:
    """Return the coincidences of values c and k: o_ck = Σ_u (pairs c-k in u) / (m_u - 1).

    Args:
        units: One row per unit, one column per rater; None is a missing rating. A unit with fewer
            than two ratings (m_u < 2) has no pair and does not count.

    Returns:
        The symmetric matrix as {(c, k): o_ck} of the cells that are not 0. Its sum is the number
        of pairable ratings.
    """
    matrix: defaultdict[tuple[float, float], float] = defaultdict(float)
    for ratings in units:
        values = [float(value) for value in ratings if value is not None]
        for pair in permutations(values, 2):
            matrix[pair] += 1 / (len(values) - 1)
    return dict(matrix)


def summed(matrices: Iterable[Mapping[tuple[float, float], float]]) -> Coincidences:
    total: defaultdict[tuple[float, float], float] = defaultdict(float)
    for matrix in matrices:
        for pair, count in matrix.items():
            total[pair] += count
    return dict(total)


def as_json(matrix: Mapping[tuple[float, float], float]) -> list[list[float]]:
    """Return the matrix as sorted rows [c, k, o_ck], for a JSON column."""
    return [[*pair, count] for pair, count in sorted(matrix.items())]


def from_json(rows: Iterable[Sequence[float]]) -> Coincidences:
    """Return the matrix that `as_json` wrote."""
    return {(first, second): count for first, second, count in rows}


def alpha(units: Iterable[Sequence[float | None]], level: Level = "ordinal") -> float | None:
    """Return the alpha of a units x raters table; see `alpha_from_coincidences`."""
    return alpha_from_coincidences(coincidences(units), level)


def alpha_from_coincidences(
    matrix: Mapping[tuple[float, float], float], level: Level = "ordinal"
) -> float | None:
    """Return 1 - D_o / D_e = 1 - (n - 1) · Σ o_ck δ²_ck / Σ n_c n_k δ²_ck.

    Args:
        matrix: From `coincidences`, or several of them `summed`.
        level: The distance between values: whether they differ (nominal), the number of ratings
            between them (ordinal), or their difference (interval).

    Returns:
        Alpha, dimensionless, at most 1: 1 is full agreement, 0 is chance, below 0 is systematic
        disagreement. None if fewer than two different values were given: alpha is then
        undefined.
    """
    marginals = _marginals(matrix)
    if len(marginals) < 2:
        return None
    squared = _SQUARED_DISTANCES[level](marginals)
    total = sum(marginals.values())
    observed = sum(count * squared(*pair) for pair, count in matrix.items())
    expected = sum(
        marginals[first] * marginals[second] * squared(first, second)
        for first, second in permutations(marginals, 2)
    )
    return 1 - (total - 1) * observed / expected


def _marginals(matrix: Mapping[tuple[float, float], float]) -> dict[float, float]:
    """n_c, the pairable ratings with value c, by ascending value."""
    marginals: defaultdict[float, float] = defaultdict(float)
    for (first, _), count in matrix.items():
        marginals[first] += count
    return dict(sorted(marginals.items()))


SquaredDistance = Callable[[float, float], float]


def _ordinal(marginals: dict[float, float]) -> SquaredDistance:
    """(Σ n_g for g from c to k, less half of n_c and of n_k) squared: a difference of mid-ranks."""
    ends = accumulate(marginals.values())
    middle = {
        value: end - count / 2 for (value, count), end in zip(marginals.items(), ends, strict=True)
    }
    return lambda first, second: (middle[first] - middle[second]) ** 2


_SQUARED_DISTANCES: dict[Level, Callable[[dict[float, float]], SquaredDistance]] = {
    "nominal": lambda _: lambda first, second: float(first != second),
    "ordinal": _ordinal,
    "interval": lambda _: lambda first, second: (first - second) ** 2,
}
