from collections.abc import Sequence

import numpy as np

from evalhub.statistics.arguments import check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.krippendorff import Coincidences
from evalhub.statistics.resampling import Floats, resampled_sums, varying_interval


def nominal_alpha_interval(
    clusters: Sequence[Coincidences], *, seed: int, resamples: int = 2000, level: float = 0.95
) -> Interval | None:
    """Percentile bootstrap interval of `alpha_from_coincidences(…, "nominal")`.

    Args:
        clusters: The coincidences of each cluster of units; summed, they are those of all.
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        None if fewer than two clusters have a pair of ratings, where alpha is undefined in
        more than 5 % of the resamples, or the same in all: an interval of width zero would
        overstate certainty.

    Raises:
        ValueError: There are no resamples, or `level` is not within 0 to 1.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    check_resampling(resamples=resamples, level=level)
    sums = _sums([matrix for matrix in clusters if matrix])
    if len(sums) < 2:
        return None
    drawn = resampled_sums(sums, resamples=resamples, rng=np.random.default_rng(seed))
    return varying_interval(_alpha(drawn), level)


def _sums(clusters: Sequence[Coincidences]) -> Floats:
    """Return Σ o_ck over c ≠ k and n_c per value, for each cluster; shape (g, 1 + values)."""
    values = sorted({value for matrix in clusters for value, _ in matrix})
    place = {value: column for column, value in enumerate(values, 1)}
    sums = np.zeros((len(clusters), 1 + len(values)))
    for row, matrix in zip(sums, clusters, strict=True):
        for (first, second), count in matrix.items():
            row[place[first]] += count
            row[0] += count if first != second else 0
    return sums


def _alpha(drawn: Floats) -> Floats:
    """Return 1 - (n - 1) · D / (n² - Σ n_c²), shape (resamples,); NaN for a single value."""
    differ, marginals = drawn[:, 0], drawn[:, 1:]
    n = marginals.sum(axis=1)
    chance = np.round(n**2 - (marginals**2).sum(axis=1), 9)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            np.where(chance > 0, 1 - (n - 1) * differ / chance, np.nan), dtype=np.float64
        )
