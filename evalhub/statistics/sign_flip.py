from collections.abc import Hashable, Sequence

import numpy as np

from evalhub.statistics.arguments import check_lengths, check_weights
from evalhub.statistics.resampling import Floats, chunks, cluster_sums

FLIPS = 10_000
MAX_ENUMERATED = 16
_TOLERANCE = 1e-9


def sign_flip(
    differences: Sequence[float],
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    flips: int = FLIPS,
) -> float | None:
    """Return the two-sided randomisation p of the weighted mean Σw·d / Σw of paired differences.

    If the runs did not differ, each difference could as well have had the other sign: p is the
    share of the ways to flip signs whose mean is at least as far from 0 as the one seen (to 1e-9).
    A cluster, such as an issue's tests, flips as one. Of -1, 0 and 1 it estimates exact McNemar.

    Args:
        differences: Second run minus first, shape (n,), in any unit; of matched tests only.
        seed: 0 or more. Equal input and seed give equal results.
        clusters: Cluster of each difference, shape (n,); None: each is its own.
        weights: Shape (n,), not negative; None: all weigh 1.
        flips: N, the number of draws if more than 16 units (differences or clusters) have a sum
            other than 0; else all are counted, and the p is exact. No drawn p is below
            1 / (N + 1): for m corrected together take N >= 20 m, or none is significant at 5 %.

    Returns:
        p in (0, 1]: exact, or (k + 1) / (N + 1) with k of the N as far out; 1.0 if all cancel
        out. None without weighted differences.

    Raises:
        ValueError: The sequences differ in length, a weight is negative, or flips < 1.

    Source: E. J. G. Pitman (1937), doi:10.2307/2984124; B. Phipson, G. K. Smyth (2010),
    doi:10.2202/1544-6115.1585, for the 1 that is added.
    """
    if flips < 1:
        raise ValueError(f"expected flips >= 1, got {flips}")
    units = _units(
        differences,
        weights=[1.0] * len(differences) if weights is None else weights,
        clusters=range(len(differences)) if clusters is None else clusters,
    )
    if units is None:
        return None
    if len(units) <= MAX_ENUMERATED:
        return _enumerated(units)
    return _drawn(units, flips, np.random.default_rng(seed))


def _units(
    differences: Sequence[float], *, weights: Sequence[float], clusters: Sequence[Hashable]
) -> Floats | None:
    """Return each cluster's part of the mean, without zeros; None without a mean."""
    check_lengths(differences=differences, weights=weights, clusters=clusters)
    check_weights(weights)
    total = sum(weights)
    if not total:
        return None
    weighted = [w / total * d for w, d in zip(weights, differences, strict=True)]
    units = cluster_sums([weighted], clusters)[:, 0]
    moved: Floats = units[abs(units) > _TOLERANCE]
    return moved


def _enumerated(units: Floats) -> float:
    means = np.zeros(1)
    for unit in units:
        means = np.concatenate([means + unit, means - unit])
    return _as_far_out(means, units) / len(means)


def _drawn(units: Floats, flips: int, rng: np.random.Generator) -> float:
    count = 0
    for rows in chunks(flips, len(units)):
        random = np.frombuffer(rng.bytes(rows * -(-len(units) // 8)), np.uint8)
        kept = np.unpackbits(random.reshape(rows, -1), axis=1, count=len(units))
        # Not `kept @ units`: on few cores its threads wait for each other, up to 20 times as long.
        sums = np.einsum("ij,j->i", kept.astype(np.float64), units)
        # A unit is kept or flipped: the sum is that of the kept ones less that of the others.
        count += _as_far_out(2 * sums - units.sum(), units)
    return (count + 1) / (flips + 1)


def _as_far_out(means: Floats, units: Floats) -> int:
    return int(np.count_nonzero(abs(means) >= abs(units.sum()) - _TOLERANCE))
