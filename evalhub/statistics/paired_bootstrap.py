from collections.abc import Hashable, Sequence

import numpy as np

from evalhub.statistics.arguments import check_lengths, check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.resampling import mean_sums, percentile_interval, resampled_means


def paired_interval(
    first: Sequence[float],
    second: Sequence[float],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """Percentile bootstrap interval of Σw·second / Σw - Σw·first / Σw, resampling whole clusters.

    Both values of a test are drawn together, so its difficulty cancels out: the interval is
    narrower than those of the two means suggest.

    Args:
        first: Scores in one run, shape (n,), of matched tests only.
        second: Scores in the other run, in the same order.
        weights: Shape (n,), not negative.
        clusters: Cluster (issue) of each test, shape (n,).
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        In the unit of the scores; above 0 the second is better. None if fewer than two clusters
        have a weight, or all have the same mean difference (to 1e-9).

    Raises:
        ValueError: The sequences differ in length, a weight is negative, there are no resamples,
            or `level` is not within 0 to 1.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    check_lengths(first=first, second=second, weights=weights, clusters=clusters)
    check_resampling(resamples=resamples, level=level)
    differences = [b - a for a, b in zip(first, second, strict=True)]
    sums = mean_sums(differences, weights, clusters)
    if sums is None:
        return None
    drawn = resampled_means(sums, resamples=resamples, rng=np.random.default_rng(seed))
    return percentile_interval(drawn, level)
