"""Intervals of a judge's accuracy against annotators, by the rule for pass rates, and of kappa."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evalhub.statistics.arguments import check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.rates.rate_interval import RateInterval, rate_interval
from evalhub.statistics.resampling import Floats, expanded, resampled_sums, varying_interval

KAPPA_METHOD = "expanded percentile bootstrap of issues"
"""The method of kappa's interval, for which there is no closed rule."""

MIN_ISSUES_OF_KAPPA = 10
"""With fewer, the interval of a high kappa contains the true one in 80 to 90 % only."""

FEW_ISSUES = f"No interval of kappa: fewer than {MIN_ISSUES_OF_KAPPA} issues."


class JudgeIntervals(NamedTuple):
    """Bounds of the figures of `JudgeAccuracy` and of Cohen's kappa; None: unknown."""

    accuracy: RateInterval | None = None
    precision: RateInterval | None = None
    recall: RateInterval | None = None
    sensitivity: RateInterval | None = None
    kappa: Interval | None = None


def judge_intervals(
    clusters: Sequence[JudgeCounts], *, seed: int, resamples: int = 2000, level: float = 0.95
) -> JudgeIntervals:
    """Return `rate_interval` of each share and `kappa_interval`.

    Args:
        clusters: The confusion matrix of each issue, shape (g, 4); they add up to the judge's.
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        A share's interval is None where its denominator is 0.

    Raises:
        ValueError: There are no resamples, or `level` is not within 0 to 1.
    """
    check_resampling(resamples=resamples, level=level)
    return JudgeIntervals(
        accuracy=_of_share(((c.true_pass + c.true_fail, sum(c)) for c in clusters), level),
        precision=_of_share(((c.true_fail, c.true_fail + c.false_fail) for c in clusters), level),
        recall=_of_share(((c.true_fail, c.true_fail + c.false_pass) for c in clusters), level),
        sensitivity=_of_share(((c.true_pass, c.true_pass + c.false_fail) for c in clusters), level),
        kappa=kappa_interval(clusters, seed=seed, resamples=resamples, level=level),
    )


def kappa_interval(
    clusters: Sequence[JudgeCounts], *, seed: int, resamples: int = 2000, level: float = 0.95
) -> Interval | None:
    """Return the expanded percentile bootstrap interval of Cohen's kappa, resampling whole issues.

    None below `MIN_ISSUES_OF_KAPPA` issues with an answer; if kappa is undefined in more than 5 %
    of the resamples; or if it is the same in all.

    Source: B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    counted = np.array([counts for counts in clusters if sum(counts)], dtype=np.float64)
    if len(counted) < MIN_ISSUES_OF_KAPPA:
        return None
    drawn = resampled_sums(counted, resamples=resamples, rng=np.random.default_rng(seed))
    return varying_interval(kappas(drawn), expanded(level, len(counted)))


def _of_share(issues: Iterable[tuple[int, int]], level: float) -> RateInterval | None:
    scored = [(part, n) for part, n in issues if n]
    return rate_interval(scored, level=level) if scored else None


def kappas(drawn: Floats) -> Floats:
    """Return Cohen's kappa of each matrix, (resamples, 4) → (resamples,); NaN: undefined."""
    true_pass, false_pass, true_fail, false_fail = drawn.T
    n = drawn.sum(axis=1)
    human_pass, judge_pass = true_pass + false_fail, true_pass + false_pass
    with np.errstate(divide="ignore", invalid="ignore"):
        same = (true_pass + true_fail) / n
        chance = (human_pass * judge_pass + (n - human_pass) * (n - judge_pass)) / n**2
        return np.where(np.round(1 - chance, 12) > 0, (same - chance) / (1 - chance), np.nan)
