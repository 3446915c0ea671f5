"""Bootstrap interval of Krippendorff's alpha over results.

A plain bootstrap is blind to what it has not seen: of judges that agreed on each of 5 results, it
knows no disagreement, and is certain. So one result is added on which judges disagree throughout
for the lower bound, and one on which they agree for the upper (as Agresti and Coull add successes
and failures). In simulation the interval covers in 94 to 100 % from 5 results on.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from evalhub.statistics.agreement.krippendorff import (
    Coincidences,
    Level,
    alpha_from_coincidences,
    summed,
)
from evalhub.statistics.arguments import check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.resampling import MAX_UNDEFINED, Floats, chunks

MAX_CLUSTERS = 1000
"""More results are resampled in as many groups, which bounds time and memory."""


def alpha_interval(
    clusters: Iterable[Coincidences],
    level: Level = "ordinal",
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval | None:
    """Return the bootstrap interval of `alpha_from_coincidences(…, level)`.

    Args:
        clusters: The coincidences of each result (or issue); summed, they are those of all.
        level: The distance between values, as in `alpha_from_coincidences`.
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        Within (-∞, 1]. None if fewer than two clusters have a pair of ratings, if alpha is not
        defined, or undefined in more than 5 % of the resamples.

    Raises:
        ValueError: There are no resamples, or `confidence` is not within 0 to 1.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13;
    A. Agresti, B. A. Coull (1998), doi:10.1080/00031305.1998.10480550.
    """
    check_resampling(resamples=resamples, level=confidence)
    rated = [matrix for matrix in clusters if matrix]
    whole = summed(rated)
    if len(rated) < 2 or alpha_from_coincidences(whole, level) is None:
        return None
    values = sorted({value for pair in whole for value in pair})
    tables = _tables(rated, values)
    tail = (1 - confidence) / 2
    marginals = tables.sum(axis=(0, 2))
    size = marginals.sum() / len(rated)
    chance = np.outer(marginals, marginals)
    apart = chance * (1 - np.eye(len(values)))
    bounds = []
    for added, share in ((apart, tail), (np.diag(marginals), 1 - tail)):
        pool = np.concatenate([tables, (added * size / added.sum())[None]])
        alphas = _alphas(_resampled(pool, resamples, np.random.default_rng(seed)), level)
        if np.isnan(alphas).mean() > MAX_UNDEFINED:
            return None
        bounds.append(float(np.nanquantile(alphas, share)))
    return Interval(*bounds)


def _tables(clusters: Sequence[Coincidences], values: Sequence[float]) -> Floats:
    """Return the matrices of the clusters, or of groups of them, shape (g, k, k)."""
    place = {value: column for column, value in enumerate(values)}
    tables = np.zeros((min(len(clusters), MAX_CLUSTERS), len(values), len(values)))
    for number, matrix in enumerate(clusters):
        for (first, second), count in matrix.items():
            tables[number % MAX_CLUSTERS, place[first], place[second]] += count
    return tables


def _resampled(tables: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sum g tables drawn with replacement, per resample: (g, k, k) → (resamples, k, k)."""
    g, flat = len(tables), tables.reshape(len(tables), -1)
    drawn = [rng.multinomial(g, [1 / g] * g, size=n) @ flat for n in chunks(resamples, g)]
    return np.concatenate(drawn).reshape(resamples, *tables.shape[1:])


def _alphas(matrices: Floats, level: Level) -> Floats:
    """Return 1 - (n - 1) · Σ o_ck δ²_ck / Σ n_c n_k δ²_ck of each; NaN for a single value."""
    marginals = matrices.sum(axis=2)
    n = marginals.sum(axis=1)
    if level == "ordinal":
        middle = marginals.cumsum(axis=1) - marginals / 2
        squared = (middle[:, :, None] - middle[:, None, :]) ** 2
    else:
        squared = np.broadcast_to(1 - np.eye(matrices.shape[1]), matrices.shape)
    observed = (matrices * squared).sum(axis=(1, 2))
    expected = (marginals[:, :, None] * marginals[:, None, :] * squared).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(np.round(expected, 9) > 0, 1 - (n - 1) * observed / expected, np.nan)
    return np.asarray(found, dtype=np.float64)
