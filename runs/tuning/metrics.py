"""Agreement of a judge with human verdicts on one split, and its change under a draft. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from evalhub.statistics.judge_accuracy import (
    JudgeAccuracy,
    JudgeCounts,
    judge_accuracy,
    judge_counts,
)
from evalhub.statistics.judge_intervals import JudgeIntervals, judge_intervals
from evalhub.statistics.kappa import kappa_from_confusion
from evalhub.statistics.kappa_difference import KappaDifference, kappa_difference

FEW = 30
"""Below this number of answers, the kappa of a split is too uncertain to use."""

SEED = 1
"""Seed of the resampling, so that equal verdicts have equal intervals on every page."""


class Row(NamedTuple):
    """Verdicts on an answer or one of its criteria. `judge` None: no readable verdict."""

    labelled_example: int
    issue: int
    annotators: bool
    judge: bool | None


class Metrics(NamedTuple):
    """Metrics of a judge on one split. `failed` counts answers without a verdict, left out here."""

    counts: JudgeCounts
    accuracy: JudgeAccuracy
    kappa: float | None
    intervals: JudgeIntervals
    failed: int
    issues: int

    @property
    def n(self) -> int:
        return self.accuracy.n


def metrics_of(rows: Sequence[Row]) -> Metrics:
    """Compute the metrics of these rows, with intervals resampled by issue."""
    clusters = _by_issue(rows)
    counts = _counts(rows)
    return Metrics(
        counts=counts,
        accuracy=judge_accuracy(counts),
        kappa=kappa_from_confusion(counts.as_pairs()),
        intervals=judge_intervals(list(clusters.values()), seed=SEED),
        failed=sum(row.judge is None for row in rows),
        issues=len(clusters),
    )


class Conclusion(StrEnum):
    """Conclusion about a draft from its change in kappa."""

    BETTER = "better"
    WORSE = "worse"
    UNCERTAIN = "uncertain"
    UNKNOWN = "unknown"


class MetricDifference(NamedTuple):
    """A draft's change against the version in use, on the `n` answers with verdicts of both."""

    difference: KappaDifference
    n: int

    @property
    def conclusion(self) -> Conclusion:
        interval = self.difference.interval
        if interval is None:
            return Conclusion.UNKNOWN
        if interval.low > 0:
            return Conclusion.BETTER
        return Conclusion.WORSE if interval.high < 0 else Conclusion.UNCERTAIN


def compared(before: Iterable[Row], after: Iterable[Row]) -> MetricDifference:
    """Compare kappa on the labelled examples judged by both, resampled by issue."""
    first = {row.labelled_example: row for row in before if row.judge is not None}
    second = {row.labelled_example: row for row in after if row.judge is not None}
    both = [(first[pk], second[pk]) for pk in first if pk in second]
    one, other = _by_issue([a for a, _ in both]), _by_issue([b for _, b in both])
    pairs = [(one[issue], other[issue]) for issue in one]
    return MetricDifference(kappa_difference(pairs, seed=SEED), len(both))


def is_overfitted(development: MetricDifference, held_out: MetricDifference) -> bool:
    """Return whether only the development split improved."""
    learnt, proved = development.difference.value, held_out.difference.value
    return learnt is not None and proved is not None and learnt > 0 >= proved


def _counts(rows: Iterable[Row]) -> JudgeCounts:
    rows = list(rows)
    return judge_counts([row.judge for row in rows], [row.annotators for row in rows])


def _by_issue(rows: Iterable[Row]) -> Mapping[int, JudgeCounts]:
    """Return each issue's confusion matrix, by issue id; issues without a verdict are left out."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row.judge is not None:
            found[row.issue].append(row)
    return {issue: _counts(found[issue]) for issue in sorted(found)}


def confusion(counts: JudgeCounts) -> Counter[tuple[str, str]]:
    """Return the matrix as {(human verdict, judge verdict): count}."""
    return Counter(
        {
            ("pass", "pass"): counts.true_pass,
            ("pass", "fail"): counts.false_fail,
            ("fail", "pass"): counts.false_pass,
            ("fail", "fail"): counts.true_fail,
        }
    )
