"""Intervals of a judge's accuracy against annotators, all from one resampling."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evalhub.statistics.arguments import check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.judge_accuracy import JudgeCounts
from evalhub.statistics.resampling import Floats, resampled_sums, varying_interval


class JudgeIntervals(NamedTuple):
    """Bounds of the figures of `JudgeAccuracy` and of Cohen's kappa; None: unknown."""

    accuracy: Interval | None = None
    precision: Interval | None = None
    recall: Interval | None = None
    sensitivity: Interval | None = None
    kappa: Interval | None = None


def judge_intervals(
    clusters: Sequence[JudgeCounts], *, seed: int, resamples: int = 2000, level: float = 0.95
) -> JudgeIntervals:
    """Percentile bootstrap intervals, resampling whole clusters (the answers to one issue's tests).

    Args:
        clusters: The confusion matrix of each cluster, shape (g, 4); they add up to the judge's.
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        Each None if fewer than two clusters have an answer, where the figure is undefined in
        more than 5 % of the resamples, or the same in all: an interval of width zero would
        overstate certainty.

    Raises:
        ValueError: There are no resamples, or `level` is not within 0 to 1.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    check_resampling(resamples=resamples, level=level)
    counted = np.array([counts for counts in clusters if sum(counts)], dtype=np.float64)
    if len(counted) < 2:
        return JudgeIntervals()
    drawn = resampled_sums(counted, resamples=resamples, rng=np.random.default_rng(seed))
    return JudgeIntervals(*(varying_interval(values, level) for values in _figures(drawn)))


def _figures(drawn: Floats) -> tuple[Floats, ...]:
    """Return the figures in the order of `JudgeIntervals`, shape (resamples,); NaN: undefined."""
    true_pass, false_pass, true_fail, false_fail = drawn.T
    n = drawn.sum(axis=1)
    human_pass, judge_pass = true_pass + false_fail, true_pass + false_pass
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            (true_pass + true_fail) / n,
            true_fail / (n - judge_pass),
            true_fail / (n - human_pass),
            true_pass / human_pass,
            kappas(drawn),
        )


def kappas(drawn: Floats) -> Floats:
    """Return Cohen's kappa of each matrix, (resamples, 4) → (resamples,); NaN: undefined."""
    true_pass, false_pass, true_fail, false_fail = drawn.T
    n = drawn.sum(axis=1)
    human_pass, judge_pass = true_pass + false_fail, true_pass + false_pass
    with np.errstate(divide="ignore", invalid="ignore"):
        same = (true_pass + true_fail) / n
        chance = (human_pass * judge_pass + (n - human_pass) * (n - judge_pass)) / n**2
        return np.where(np.round(1 - chance, 12) > 0, (same - chance) / (1 - chance), np.nan)
