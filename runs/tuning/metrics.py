"""A judge against people on one half, and whether a draft does better. Pure."""

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
"""With fewer answers in a half its kappa is hardly known."""

SEED = 1
"""Of the resampling: equal verdicts have equal intervals on every page."""


class Row(NamedTuple):
    """One answer, or one criterion of it. `judge` None: it gave no verdict that can be read."""

    labelled_example: int
    issue: int
    annotators: bool
    judge: bool | None


class Metrics(NamedTuple):
    """A judge on one half. `failed` counts answers without a verdict: they are in no figure."""

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
    """The figures of these rows; intervals are drawn by issue."""
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
    """What the difference of kappa says of a draft."""

    BETTER = "better"
    WORSE = "worse"
    UNCERTAIN = "uncertain"
    UNKNOWN = "unknown"


class MetricDifference(NamedTuple):
    """A draft beside the version in use, on the `n` answers that both gave a verdict on."""

    difference: KappaDifference
    n: int

    @property
    def verdict(self) -> Conclusion:
        interval = self.difference.interval
        if interval is None:
            return Conclusion.UNKNOWN
        if interval.low > 0:
            return Conclusion.BETTER
        return Conclusion.WORSE if interval.high < 0 else Conclusion.UNCERTAIN


def compared(before: Iterable[Row], after: Iterable[Row]) -> MetricDifference:
    """The difference of kappa, drawn by issue, on the precedents that both judged."""
    first = {row.labelled_example: row for row in before if row.judge is not None}
    second = {row.labelled_example: row for row in after if row.judge is not None}
    both = [(first[pk], second[pk]) for pk in first if pk in second]
    one, other = _by_issue([a for a, _ in both]), _by_issue([b for _, b in both])
    pairs = [(one[issue], other[issue]) for issue in one]
    return MetricDifference(kappa_difference(pairs, seed=SEED), len(both))


def is_overfitted(seen: MetricDifference, held_out: MetricDifference) -> bool:
    """Whether the seen half improved and the held-out half did not."""
    learnt, proved = seen.difference.value, held_out.difference.value
    return learnt is not None and proved is not None and learnt > 0 >= proved


def _counts(rows: Iterable[Row]) -> JudgeCounts:
    rows = list(rows)
    return judge_counts([row.judge for row in rows], [row.annotators for row in rows])


def _by_issue(rows: Iterable[Row]) -> Mapping[int, JudgeCounts]:
    """The matrix of each issue that has a verdict, in the order of their numbers."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row.judge is not None:
            found[row.issue].append(row)
    return {issue: _counts(found[issue]) for issue in sorted(found)}


def confusion(counts: JudgeCounts) -> Counter[tuple[str, str]]:
    """The matrix as {(what people said, what the judge said): how often}, for a table."""
    return Counter(
        {
            ("pass", "pass"): counts.true_pass,
            ("pass", "fail"): counts.false_fail,
            ("fail", "pass"): counts.false_pass,
            ("fail", "fail"): counts.true_fail,
        }
    )
