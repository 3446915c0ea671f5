from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.arguments import check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.judges.judge_intervals import MIN_ISSUES_OF_KAPPA, kappas
from evalhub.statistics.resampling import expanded, resampled_sums, varying_interval


class KappaDifference(NamedTuple):
    """Cohen's kappa of the second judge minus that of the first, in [-2, 2].

    `value` None: either is undefined. `interval` None: the spread is unknown, as below 10 issues.
    """

    value: float | None
    interval: Interval | None = None


def kappa_difference(
    clusters: Sequence[tuple[JudgeCounts, JudgeCounts]],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> KappaDifference:
    """Return the difference with its bootstrap interval, `expanded`, resampling whole clusters.

    Both matrices of a cluster are drawn together, so that the difficulty of its answers for
    both judges cancels out.

    Args:
        clusters: The confusion matrices of the first and the second judge over the answers to one
            issue's tests, shape (g, 2, 4). Both are over the same answers.
        seed: 0 or more. Equal input and seed give equal results.

    Raises:
        ValueError: The two matrices of a cluster are over different numbers of answers, there are
            no resamples, or `level` is not within 0 to 1.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    check_resampling(resamples=resamples, level=level)
    if odd := [pair for pair in clusters if sum(pair[0]) != sum(pair[1])]:
        raise ValueError(f"expected matrices over the same answers, got {odd[0]}")
    counted = np.array([[*a, *b] for a, b in clusters if sum(a)], dtype=np.float64)
    sums = counted.sum(axis=0).astype(int).reshape(2, 4) if len(counted) else np.zeros((2, 4), int)
    first, second = (kappa_from_confusion(JudgeCounts(*row).as_pairs()) for row in sums.tolist())
    if first is None or second is None:
        return KappaDifference(None)
    value = second - first
    if len(counted) < MIN_ISSUES_OF_KAPPA:
        return KappaDifference(value)
    drawn = resampled_sums(counted, resamples=resamples, rng=np.random.default_rng(seed))
    differences = kappas(drawn[:, 4:]) - kappas(drawn[:, :4])
    return KappaDifference(value, varying_interval(differences, expanded(level, len(counted))))
