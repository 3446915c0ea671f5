"""Coverage of the 95 % intervals of a judge's figures against humans.

The rule for shares is that of pass rates, at the same bounds: sensitivity, specificity and accuracy
are covered in at least 94 % at 0.5, and at 0.9 in at least 90 % from 20 issues on and at least
85 % at 10; never in more than 99.5 %. Kappa's, from 5 issues on, contains the true one in at least
90 %.

The model: humans pass half of 20 answers an issue, so that a share is of about 10; a judge is right
at a rate that is Beta-distributed over issues, apart for passes and fails. Kappa is then twice the
accuracy less 1.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from evalhub.statistics.interval import Interval
from evalhub.statistics.judge_accuracy import JudgeCounts
from evalhub.statistics.judge_intervals import JudgeIntervals, judge_intervals
from tests.bench.validity import Check
from tests.bench.validity.intervals import CORRELATIONS, LEAST, MOST, rates

ANSWERS = 20
SHARES = {"sensitivity": "sensitivity", "specificity": "recall", "accuracy": "accuracy"}
"""The field of `JudgeIntervals` of each share: of fails, recall is specificity."""

KAPPA = (0.9, 1.0)


def checks() -> Iterator[Check]:
    for share, issues, right in product(SHARES, (5, 10, 20), (0.5, 0.9)):
        if least := LEAST.get((issues, right)):
            for correlation in CORRELATIONS:
                measure = partial(coverage, SHARES[share], issues, right, correlation)
                name = f"{share}: {issues} issues, {right}, correlation {correlation}"
                yield Check(name, least, MOST, measure)
    for issues, right, correlation in product((5, 10, 20), (0.75, 0.9), CORRELATIONS):
        kappa = round(2 * right - 1, 9)
        name = f"kappa: {issues} issues, {kappa}, correlation {correlation}"
        measure = partial(coverage, "kappa", issues, right, correlation)
        yield Check(name, *KAPPA, measure)


def coverage(field: str, issues: int, right: float, correlation: float, draws: int) -> float:
    """Return the share of simulated judges whose interval contains the true figure.

    Args:
        right: True sensitivity and specificity, in [0, 1].
        draws: A tenth of them for kappa, which is resampled.
    """
    is_kappa = field == "kappa"
    true = 2 * right - 1 if is_kappa else right
    rng = np.random.default_rng(round(1000 * (issues + right + correlation)))
    drawn = _judges(issues, right, correlation, max(1, draws // 10) if is_kappa else draws, rng)
    return float(np.mean([_covers(judge, field, true) for judge in drawn]))


def _judges(
    issues: int, right: float, correlation: float, draws: int, rng: np.random.Generator
) -> list[list[JudgeCounts]]:
    """Draw the confusion matrices of judges over issues."""
    passes = rng.binomial(ANSWERS, 0.5, size=(draws, issues))
    fails = ANSWERS - passes
    true_pass = rng.binomial(passes, rates(issues, right, correlation, draws, rng))
    true_fail = rng.binomial(fails, rates(issues, right, correlation, draws, rng))
    counts = np.stack([true_pass, fails - true_fail, true_fail, passes - true_pass], axis=2)
    return [[JudgeCounts(*issue) for issue in judge] for judge in counts.tolist()]


def _covers(judge: Sequence[JudgeCounts], field: str, true: float) -> bool:
    # Only kappa needs many resamples.
    found = judge_intervals(judge, seed=1, resamples=1000 if field == "kappa" else 1)
    low, high = _bounds(found, field) or (1.0, 0.0)
    return low <= true <= high


def _bounds(found: JudgeIntervals, field: str) -> Interval | None:
    if field == "kappa":
        return found.kappa
    share = getattr(found, field)
    return share.interval if share else None
