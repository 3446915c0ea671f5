"""All figures of a judge against annotators, with intervals by issue."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.judges.judge_accuracy import (
    JudgeAccuracy,
    JudgeCounts,
    judge_accuracy,
    judge_counts,
)
from evalhub.statistics.judges.judge_intervals import (
    FEW_ISSUES,
    MIN_ISSUES_OF_KAPPA,
    JudgeIntervals,
    judge_intervals,
)

SEED = 1
"""Seed of kappa's resampling, so that equal verdicts have equal intervals on every page."""

VerdictPair = tuple[int, bool | None, bool | None]
"""An issue, and the verdicts of judge and annotators on an answer; True: passed, None: missing."""


@dataclass(frozen=True)
class JudgeMetrics:
    """Figures on the answers with both verdicts, and the counts of each of their issues.

    `kappa` None: not defined, as with a single verdict on one side.
    """

    counts: JudgeCounts
    accuracy: JudgeAccuracy
    kappa: float | None
    intervals: JudgeIntervals
    by_issue: tuple[JudgeCounts, ...]

    @property
    def issues(self) -> int:
        return len(self.by_issue)

    @property
    def n(self) -> int:
        return self.accuracy.n

    @property
    def why_no_interval(self) -> str:
        """Why kappa has no interval; "" where it has one, or for other reasons."""
        return FEW_ISSUES if self.kappa is not None and self.issues < MIN_ISSUES_OF_KAPPA else ""


def counts_by_issue(pairs: Iterable[VerdictPair]) -> dict[int, JudgeCounts]:
    """Return each issue's confusion matrix, by issue id; issues without a pair are left out."""
    found: dict[int, list[VerdictPair]] = defaultdict(list)
    for pair in pairs:
        if None not in pair:
            found[pair[0]].append(pair)
    return {issue: _counts(mine) for issue, mine in sorted(found.items())}


def judge_metrics(pairs: Iterable[VerdictPair]) -> JudgeMetrics:
    """Compute all figures of these verdicts."""
    pairs = list(pairs)
    counts, clusters = _counts(pairs), list(counts_by_issue(pairs).values())
    return JudgeMetrics(
        counts=counts,
        accuracy=judge_accuracy(counts),
        kappa=kappa_from_confusion(counts.as_pairs()),
        intervals=judge_intervals(clusters, seed=SEED),
        by_issue=tuple(clusters),
    )


def _counts(pairs: Sequence[VerdictPair]) -> JudgeCounts:
    return judge_counts([judge for _, judge, _ in pairs], [human for _, _, human in pairs])
