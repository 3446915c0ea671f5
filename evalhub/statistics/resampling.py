from collections.abc import Hashable, Iterator, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.arguments import check_weights
from evalhub.statistics.interval import Interval
from evalhub.statistics.student import student_quantile

Floats = NDArray[np.float64]

MAX_UNDEFINED = 0.05
"""Share of undefined resamples above which a statistic has no interval."""

_MAX_CELLS = 500_000
"""Numbers held at once while drawing (4 MB)."""


def cluster_sums(columns: Sequence[Sequence[float]], clusters: Sequence[Hashable]) -> Floats:
    """Sum k columns, shape (k, n), over each of the g clusters: shape (g, k)."""
    places: dict[Hashable, int] = {}
    place = [places.setdefault(cluster, len(places)) for cluster in clusters]
    sums = [np.bincount(place, weights=column, minlength=len(places)) for column in columns]
    return np.stack(sums, axis=1)


def mean_sums(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[Hashable]
) -> Floats | None:
    """Return (Σw, Σw·x) of the g weighted clusters, shape (g, 2), for resampling a mean.

    None with fewer than two, or if all have the same mean (to 1e-9): all resamples are then equal,
    and an interval of width zero would overstate certainty. Raises ValueError for a negative
    weight.
    """
    check_weights(weights)
    weighted = [w * x for w, x in zip(weights, values, strict=True)]
    sums = cluster_sums([weights, weighted], clusters)
    sums = sums[sums[:, 0] > 0]
    return sums if len(np.unique(np.round(sums[:, 1] / sums[:, 0], 9))) > 1 else None


def resampled_means(sums: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Return Σw·x / Σw of each resample of `mean_sums`: (g, 2) → (resamples,)."""
    drawn = resampled_sums(sums, resamples=resamples, rng=rng)
    return np.asarray(drawn[:, 1] / drawn[:, 0], dtype=np.float64)


def resampled_sums(sums: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Sum g clusters drawn with replacement, per resample: (g, k) → (resamples, k)."""
    g = len(sums)
    drawn = [
        np.stack([column[places].sum(axis=1) for column in sums.T], axis=1)
        for places in (rng.integers(0, g, size=(rows, g)) for rows in chunks(resamples, g))
    ]
    return np.concatenate(drawn)


def chunks(rows: int, columns: int) -> Iterator[int]:
    """Yield slices of `rows` that, times `columns`, fit into memory."""
    most = max(1, _MAX_CELLS // max(1, columns))
    for start in range(0, rows, most):
        yield min(most, rows - start)


def expanded(level: float, clusters: int) -> float:
    """Return the level of a percentile interval over so few clusters that contains `level`.

    A bootstrap of g clusters is too narrow: as if by the normal distribution in place of Student's
    t with g - 1 degrees of freedom, and by a variance over g in place of g - 1.

    Args:
        clusters: 2 or more.

    Source: T. Hesterberg (2015), What Teachers Should Know About the Bootstrap, The American
    Statistician 69, 371-386, section 4.3 (expanded percentile interval).
    """
    reach = sqrt(clusters / (clusters - 1)) * student_quantile(level, clusters - 1)
    return 2 * NormalDist().cdf(reach) - 1


def defined_interval(values: Floats, level: float) -> Interval | None:
    """Return the middle `level` of the values, shape (resamples,), without NaN.

    None with more NaN than MAX_UNDEFINED.
    """
    defined = values[~np.isnan(values)]
    if len(values) - len(defined) > MAX_UNDEFINED * len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def varying_interval(values: Floats, level: float) -> Interval | None:
    """Return `defined_interval`; None if all values are equal (to 1e-9): that is no certainty."""
    found = defined_interval(values, level)
    return found if found and np.nanmax(values) - np.nanmin(values) > 1e-9 else None
