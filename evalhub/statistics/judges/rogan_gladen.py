"""Pass rates corrected for the known error of a judge.

Show it next to the raw rate, never instead of it. Only a random sample of the judge's answers may
calibrate it: answers that annotators chose because they doubted the verdict would overstate the
judge's error.

Source: W. J. Rogan, B. Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510; the four answers that
are added: Z. Lang, J. Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from evalhub.statistics.arguments import check_lengths, check_resampling
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import judge_accuracy, judge_counts
from evalhub.statistics.rates.rate_interval import MIN_ISSUES
from evalhub.statistics.resampling import (
    Floats,
    cluster_sums,
    defined_interval,
    expanded,
    mean_sums,
    resampled_means,
    resampled_sums,
)


class Calibrated(NamedTuple):
    """Verdicts of judge and annotators on an answer of the random sample."""

    judge: bool
    annotators: bool
    cluster: Hashable
    """Unit of resampling, such as the issue."""


def corrected_rate(
    rate: float | None, sensitivity: float | None, specificity: float | None
) -> float | None:
    """Return (p + sp - 1) / (se + sp - 1), clipped to [0, 1]: the expected human pass rate.

    Args:
        rate: p, the share that the judge passed, in [0, 1].
        sensitivity: se, the share of the annotators' passes that the judge passes, in [0, 1].
        specificity: sp, the share of the annotators' fails that the judge fails, in [0, 1].

    Returns:
        In [0, 1]. None if one of the three was not measured, or if se + sp <= 1 (to 1e-9): such a
        judge is no better than chance.

    Raises:
        ValueError: A share is not within 0 to 1.
    """
    if rate is None or sensitivity is None or specificity is None:
        return None
    if not all(0 <= share <= 1 for share in (rate, sensitivity, specificity)):
        raise ValueError(
            f"expected shares between 0 and 1, got {rate}, {sensitivity}, {specificity}"
        )
    worth = round(sensitivity + specificity - 1, 9)
    return min(1.0, max(0.0, (rate + specificity - 1) / worth)) if worth > 0 else None


def corrected_interval(
    values: Sequence[float],
    weights: Sequence[float],
    clusters: Sequence[Hashable],
    calibration: Sequence[Calibrated],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """Expanded percentile bootstrap interval of the corrected rate, resampling run and calibration.

    Both are drawn independently, by whole clusters. Four answers, one of each kind (passed or
    failed, by judge and annotators), are added to the calibration as clusters of their own: else
    a judge without errors in a small sample would count as perfect.

    Args:
        values: The judge's values, in [0, 1] (1 is passed), shape (n,).
        weights: Shape (n,), not negative.
        clusters: Cluster (issue) of each value, shape (n,).
        calibration: The random sample with human verdicts, shape (m,).
        seed: 0 or more. Equal input and seed give equal results.

    Returns:
        Within [0, 1]. None if the rate itself cannot be corrected, where either sample has
        fewer than `MIN_ISSUES` clusters (with a weight), where all clusters of the run have the
        same mean (to 1e-9), or where se + sp <= 1 in more than 5 % of the resamples; fewer are
        left out.

    Raises:
        ValueError: The sequences differ in length, a weight is negative, there are no resamples,
            or `level` is not within 0 to 1.
    """
    check_lengths(values=values, weights=weights, clusters=clusters)
    check_resampling(resamples=resamples, level=level)
    run = mean_sums(values, weights, clusters)
    if run is None or len(run) < MIN_ISSUES or not _calibrates(calibration):
        return None
    rng = np.random.default_rng(seed)
    rates = resampled_means(run, resamples=resamples, rng=rng)
    judged = resampled_sums(_kinds(calibration), resamples=resamples, rng=rng)
    fewest = min(len(run), len({row.cluster for row in calibration}))
    return defined_interval(_corrected(rates, judged), expanded(level, fewest))


def _calibrates(calibration: Sequence[Calibrated]) -> bool:
    counts = judge_counts(
        [row.judge for row in calibration], [row.annotators for row in calibration]
    )
    found = judge_accuracy(counts)
    enough = len({row.cluster for row in calibration}) >= MIN_ISSUES
    return enough and corrected_rate(0.5, found.sensitivity, found.specificity) is not None


def _kinds(calibration: Sequence[Calibrated]) -> Floats:
    """Return true pass, false pass, true fail, false fail per cluster; the added ones come last."""
    kinds = [(row.judge, row.annotators) for row in calibration]
    columns = [
        [float(kind == each) for kind in kinds]
        for each in ((True, True), (True, False), (False, False), (False, True))
    ]
    sums = cluster_sums(columns, [row.cluster for row in calibration])
    return np.concatenate([sums, np.eye(4)])


def _corrected(rates: Floats, judged: Floats) -> Floats:
    """Return rates of shape (resamples,) from counts of shape (resamples, 4); NaN if undefined."""
    true_pass, false_pass, true_fail, false_fail = judged.T
    with np.errstate(divide="ignore", invalid="ignore"):
        sensitivity = true_pass / (true_pass + false_fail)
        specificity = true_fail / (true_fail + false_pass)
        worth = np.round(sensitivity + specificity - 1, 9)
        corrected = np.clip((rates + specificity - 1) / worth, 0, 1)
    return np.asarray(np.where(worth > 0, corrected, np.nan), dtype=np.float64)
