"""Coverage of the 95 % intervals of a judge's figures against humans.

The rule for shares is that of pass rates, at the same bounds: sensitivity, specificity and accuracy
are covered in at least 94 % at 0.5, and at 0.9 in at least 90 % from 20 issues on and at least
85 % at 10; never in more than 99.5 %. Kappa's, from 10 issues on, contains the true one in at least
90 %; so do the interval of the difference of two kappas and, from 5 issues on, that of the pass
rate corrected for the judge's errors.

The model: humans pass half of 20 answers an issue, so that a share is of about 10; a judge is right
at a rate that is Beta-distributed over issues, apart for passes and fails. Kappa is then twice the
accuracy less 1.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from evalhub.statistics.agreement.kappa_difference import kappa_difference
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.judges.judge_intervals import JudgeIntervals, judge_intervals
from evalhub.statistics.judges.rogan_gladen import Calibrated, corrected_interval
from tests.bench.validity import Check
from tests.bench.validity.intervals import CORRELATIONS, LEAST, MOST, rates

ANSWERS = 20
SHARES = {"sensitivity": "sensitivity", "specificity": "recall", "accuracy": "accuracy"}
"""The field of `JudgeIntervals` of each share: of fails, recall is specificity."""

KAPPA = (0.9, 1.0)
CORRECTED = (0.9, 1.0)


def checks() -> Iterator[Check]:
    for share, issues, right in product(SHARES, (5, 10, 20), (0.5, 0.9)):
        if least := LEAST.get((issues, right)):
            for correlation in CORRELATIONS:
                measure = partial(coverage, SHARES[share], issues, right, correlation)
                name = f"{share}: {issues} issues, {right}, correlation {correlation}"
                yield Check(name, least, MOST, measure)
    for issues, right, correlation in product((10, 20), (0.75, 0.9), CORRELATIONS):
        kappa = round(2 * right - 1, 9)
        name = f"kappa: {issues} issues, {kappa}, correlation {correlation}"
        measure = partial(coverage, "kappa", issues, right, correlation)
        yield Check(name, *KAPPA, measure)
    for issues, right, correlation in product((10, 20), (0.75, 0.9), CORRELATIONS):
        kappa = round(2 * right - 1, 9)
        name = f"difference of kappas: {issues} issues, {kappa}, correlation {correlation}"
        yield Check(name, *KAPPA, partial(difference_coverage, issues, right, correlation))
    for issues, rate, correlation in product((5, 10, 20), (0.5, 0.8), CORRELATIONS):
        name = f"corrected pass rate: {issues} issues, {rate}, correlation {correlation}"
        yield Check(name, *CORRECTED, partial(corrected_coverage, issues, rate, correlation))


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


def difference_coverage(issues: int, right: float, correlation: float, draws: int) -> float:
    """Return the share of pairs of equal judges whose difference of kappas may be 0.

    Both judge the same answers; each is right on an issue as often as it happens to be.
    """
    rng = np.random.default_rng(round(2000 * (issues + right + correlation)))
    draws = max(1, draws // 10)
    passes = rng.binomial(ANSWERS, 0.5, size=(draws, issues))
    both = [_judges(issues, right, correlation, draws, rng, passes=passes) for _ in range(2)]
    found = (
        kappa_difference(list(zip(*pair, strict=True)), seed=1, resamples=1000).interval
        for pair in zip(*both, strict=True)
    )
    return float(np.mean([one is not None and one.low <= 0 <= one.high for one in found]))


def corrected_coverage(issues: int, rate: float, correlation: float, draws: int) -> float:
    """Return the share of intervals of corrected pass rates that contain what humans would say.

    A rate that cannot be corrected, since the judge may be no better than chance, has none.

    The judge passes 90 % of what humans pass and fails 80 % of what they fail; half as many other
    answers as the run has were drawn at random and judged by humans too.
    """
    rng = np.random.default_rng(round(3000 * (issues + rate + correlation)))
    found = (_corrected(issues, rate, correlation, rng) for _ in range(max(1, draws // 20)))
    return float(np.mean([one.low <= rate <= one.high for one in found if one is not None]))


def _corrected(
    issues: int, rate: float, correlation: float, rng: np.random.Generator
) -> Interval | None:
    (of_issue,) = rates(issues, rate, correlation, 1, rng)
    issue = np.repeat(np.arange(issues), ANSWERS + ANSWERS // 2)
    humans = rng.random(len(issue)) < of_issue[issue]
    judge = np.where(humans, rng.random(len(issue)) < 0.9, rng.random(len(issue)) >= 0.8)
    is_run = np.arange(len(issue)) % (ANSWERS + ANSWERS // 2) < ANSWERS
    sample = zip(judge[~is_run], humans[~is_run], issue[~is_run].tolist(), strict=True)
    return corrected_interval(
        judge[is_run].astype(float).tolist(),
        [1.0] * int(is_run.sum()),
        issue[is_run].tolist(),
        [Calibrated(bool(one), bool(human), of) for one, human, of in sample],
        seed=1,
        resamples=1000,
    )


def _judges(
    issues: int,
    right: float,
    correlation: float,
    draws: int,
    rng: np.random.Generator,
    passes: np.ndarray | None = None,
) -> list[list[JudgeCounts]]:
    """Draw the confusion matrices of judges over issues; `passes` are those of humans, if drawn."""
    if passes is None:
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
