"""A percentile bootstrap of any statistic, to hold faster code for single figures against."""

from collections.abc import Callable, Hashable, Sequence
from math import nan
from typing import TypeVar

import numpy as np

from evalhub.statistics.arguments import check_lengths, check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.resampling import varying_interval

Row = TypeVar("Row")


def bootstrap_of(
    statistic: Callable[[Sequence[Row]], float | None],
    rows: Sequence[Row],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """Percentile bootstrap interval of `statistic(rows)`, resampling whole clusters.

    Args:
        statistic: Computed from rows in any order; None if undefined.
        rows: Shape (n,); input of the statistic, such as pairs (judge, annotators).
        clusters: Cluster of each row, shape (n,).
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        In the unit of the statistic. None if there are fewer than two clusters, all resamples
        have the same value (to 1e-9), or the statistic is undefined for the rows or in more than
        5 % of the resamples; fewer are left out.

    Raises:
        ValueError: The sequences differ in length, resamples < 1, or `level` is not in 0 to 1.

    Source: B. Efron (1979), doi:10.1214/aos/1176344552.
    """
    check_lengths(rows=rows, clusters=clusters)
    check_resampling(resamples=resamples, level=level)
    grouped: dict[Hashable, list[Row]] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        grouped.setdefault(cluster, []).append(row)
    groups = list(grouped.values())
    if len(groups) < 2 or statistic(rows) is None:
        return None
    rng = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for i in range(resamples):
        places = rng.integers(0, len(groups), size=len(groups)).tolist()
        value = statistic([row for place in places for row in groups[place]])
        drawn[i] = nan if value is None else value
    return varying_interval(drawn, level)
