from collections.abc import Hashable, Sequence
from math import fsum, sqrt

from evalhub.statistics.arguments import check_lengths, check_weights


def clustered_error(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[Hashable]
) -> float | None:
    """Cluster-robust standard error of Σw·x / Σw: √(g / (g - 1) · Σ_c (Σ w·(x - mean))²) / Σw.

    Within a cluster values may depend on each other in any way. With one value in each cluster
    and equal weights it is the ordinary error, s / √n. The factor g / (g - 1), for g clusters, is
    the usual correction for few of them; with fewer than about 30 it is still too small.

    Args:
        values: Scores, or differences of scores of matched tests, shape (n,).
        weights: Shape (n,), not negative.
        clusters: Cluster (issue) of each value, shape (n,).

    Returns:
        In the unit of the values, above 0. None if fewer than two clusters have a weight, or
        all have the same mean (the error is below 1e-9): the spread is then unknown.

    Raises:
        ValueError: The sequences differ in length, or a weight is negative.

    Source: K.-Y. Liang, S. L. Zeger (1986), doi:10.1093/biomet/73.1.13; for evaluations E. Miller
    (2024), Adding Error Bars to Evals, section 2.2, arXiv:2411.00640.
    """
    check_lengths(values=values, weights=weights, clusters=clusters)
    check_weights(weights)
    rows = [row for row in zip(values, weights, clusters, strict=True) if row[1]]
    total = fsum(weight for _, weight, _ in rows)
    if not rows:
        return None
    mean = fsum(weight * value for value, weight, _ in rows) / total
    off: dict[Hashable, float] = {}
    for value, weight, cluster in rows:
        off[cluster] = off.get(cluster, 0.0) + weight * (value - mean)
    if len(off) < 2:
        return None
    squares = fsum(each**2 for each in off.values())
    error = sqrt(len(off) / (len(off) - 1) * squares) / total
    return error if error > 1e-9 else None
