"""Agreement of a judge with human verdicts on one split, and its change under a draft. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from evalhub.statistics.agreement.kappa_difference import KappaDifference, kappa_difference
from evalhub.statistics.judges.judge_metrics import (
    SEED,
    JudgeMetrics,
    VerdictPair,
    counts_by_issue,
    judge_metrics,
)
from issues.rubrics.scales import Scale, passes
from issues.rubrics.scoring import WHOLE_TEST, inverted

FEW = 30
"""Below this number of answers, the kappa of a split is too uncertain to use."""


class Row(NamedTuple):
    """Verdicts on an answer or one of its criteria. `judge` None: no readable verdict."""

    labelled_example: int
    issue: int
    annotators: bool
    judge: bool | None

    @property
    def pair(self) -> VerdictPair:
        return self.issue, self.judge, self.annotators


@dataclass(frozen=True)
class Metrics(JudgeMetrics):
    """Metrics of a judge on one split. `failed` counts answers without a verdict, left out here."""

    failed: int


def metrics_of(rows: Sequence[Row]) -> Metrics:
    """Compute the metrics of these rows, with intervals by issue."""
    failed = sum(row.judge is None for row in rows)
    return Metrics(**vars(judge_metrics(row.pair for row in rows)), failed=failed)


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
    issues: int

    @property
    def conclusion(self) -> Conclusion:
        interval = self.difference.interval
        if interval is None:
            return Conclusion.UNKNOWN
        if interval.low > 0:
            return Conclusion.BETTER
        return Conclusion.WORSE if interval.high < 0 else Conclusion.UNCERTAIN


def compared(before: Iterable[Row], after: Iterable[Row]) -> MetricDifference:
    """Compare kappa on the labelled examples judged by both, resampling issues."""
    first = {row.labelled_example: row for row in before if row.judge is not None}
    second = {row.labelled_example: row for row in after if row.judge is not None}
    both = [(first[pk], second[pk]) for pk in first if pk in second]
    one = counts_by_issue(row.pair for row, _ in both)
    other = counts_by_issue(row.pair for _, row in both)
    pairs = [(one[issue], other[issue]) for issue in one]
    return MetricDifference(kappa_difference(pairs, seed=SEED), len(both), len(pairs))


def is_overfitted(development: MetricDifference, held_out: MetricDifference) -> bool:
    """Return whether the draft is significantly better on the development split alone.

    The held-out split must not even lean towards it: a gain there that is not significant yet is
    no sign of overfitting.
    """
    proved = held_out.difference.value
    return development.conclusion is Conclusion.BETTER and proved is not None and proved <= 0


# Pass lines --------------------------------------------------------------------------------------


class PassLine(NamedTuple):
    """A pass threshold and its rule. `is_inverted`: a high value is bad."""

    threshold: float
    rule: str
    is_inverted: bool = False

    def passed(self, value: float | None) -> bool | None:
        """Return whether the value passes; None where there is no value."""
        found = inverted(value) if self.is_inverted else value
        return passes(found, self.threshold, self.rule)


class Frozen(NamedTuple):
    """A criterion and the whole test's pass threshold, as the result's revision froze them."""

    key: str
    is_inverted: bool
    threshold: float
    rule: str


def pass_line_of(frozen: Frozen, used: Scale, draft: Scale) -> PassLine:
    """Return the threshold for values on the scale `draft`.

    A test that used its template's threshold uses the draft's; a test with its own keeps it.
    A criterion always uses the scale's.

    Args:
        used: Scale of the version in use, under which the test was frozen.
    """
    if frozen.key != WHOLE_TEST:
        return PassLine(draft.threshold, draft.rule, frozen.is_inverted)
    if (frozen.threshold, frozen.rule) == (used.threshold, used.rule):
        return PassLine(draft.threshold, draft.rule)
    return PassLine(frozen.threshold, frozen.rule)
