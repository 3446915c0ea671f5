from collections.abc import Hashable, Sequence
from random import Random

import numpy as np

from evalhub.statistics.arguments import check_lengths, check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.resampling import chunks

MAX_CLUSTERS = 1000


def clustered_interval(
    values: Sequence[float],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """Percentile bootstrap interval of the weighted mean Σw·x / Σw, resampling whole clusters.

    The tests of an issue tend to fail together, so they are drawn together: resampling single
    results would give an interval that is too narrow. Of more than 1000 clusters, 1000 random
    groups are resampled instead, which keeps the expected width (to 2 % or so) and bounds the time.

    Args:
        values: Measured values, shape (n,).
        weights: Shape (n,), not negative.
        clusters: Cluster of each value, shape (n,).
        seed: Equal input and seed give equal results.

    Returns:
        None if fewer than two clusters have a weight, or all have the same mean (to 1e-9): all
        resamples are then equal, and an interval of width zero would overstate certainty.

    Raises:
        ValueError: The sequences differ in length, a weight is negative, there are no resamples,
            or `level` is not within 0 to 1.
    """
    check_lengths(values=values, weights=weights, clusters=clusters)
    check_resampling(resamples=resamples, level=level)
    sums = _sums(values, weights, clusters)
    if len({round(pair.imag / pair.real, 9) for pair in sums}) < 2:
        return None
    rng = Random(seed)
    if len(sums) > MAX_CLUSTERS:
        shuffled = rng.sample(sums, len(sums))
        sums = [sum(shuffled[start::MAX_CLUSTERS]) for start in range(MAX_CLUSTERS)]
    means = _means(sums, resamples, rng)
    return Interval(_quantile(means, (1 - level) / 2), _quantile(means, (1 + level) / 2))


def _sums(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[Hashable]
) -> list[complex]:
    """Return Σw + Σw·x i per weighted cluster; a complex number sums both in one pass."""
    sums: dict[Hashable, complex] = {}
    for value, weight, cluster in zip(values, weights, clusters, strict=True):
        if weight < 0:
            raise ValueError(f"expected weights of 0 or more, got {weight}")
        sums[cluster] = sums.get(cluster, 0j) + complex(weight, weight * value)
    return [pair for pair in sums.values() if pair.real]


def _means(sums: list[complex], resamples: int, rng: Random) -> list[float]:
    """Return the sorted means of resamples, drawn as by `rng.choices` but vectorised."""
    _, state, _ = rng.getstate()  # NumPy's Mersenne Twister continues Python's
    key = np.array(state[:-1], dtype=np.uint32)
    source = np.random.RandomState()
    source.set_state({"bit_generator": "MT19937", "state": {"key": key, "pos": state[-1]}})
    g, each = len(sums), np.array(sums)
    means: list[float] = []
    for rows in chunks(resamples, g):
        places = (source.random_sample((rows, g)) * g).astype(np.intp)
        drawn = each[places].sum(axis=1)
        means += (drawn.imag / drawn.real).tolist()
    return sorted(means)


def _quantile(ordered: list[float], share: float) -> float:
    """Interpolate linearly between the two nearest of n sorted values, at share · (n - 1)."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
