"""Accuracy of a judge against annotators, on pass and fail.

The counts add up: those of several judge runs, summed, give the figures of all of them together.
Kappa comes from the same counts: `kappa_from_confusion(counts.as_pairs())`.
"""

from collections.abc import Sequence
from typing import NamedTuple


class JudgeCounts(NamedTuple):
    """The confusion matrix of a judge: its verdict, true if annotators agree."""

    true_pass: int
    """Judge and annotators pass."""
    false_pass: int
    """The judge passes, annotators fail: a missed failure."""
    true_fail: int
    """Judge and annotators fail."""
    false_fail: int
    """The judge fails, annotators pass: a false alarm."""

    def as_pairs(self) -> dict[tuple[float, float], int]:
        """Return {(judge, annotators): count} with 1 for pass and 0 for fail, for Cohen's kappa."""
        pairs = {
            (1.0, 1.0): self.true_pass,
            (1.0, 0.0): self.false_pass,
            (0.0, 0.0): self.true_fail,
            (0.0, 1.0): self.false_fail,
        }
        return {pair: count for pair, count in pairs.items() if count}


class JudgeAccuracy(NamedTuple):
    """Shares in [0, 1] with annotators as the truth; each None if its denominator is 0."""

    n: int
    """Answers with both verdicts."""
    accuracy: float | None
    """Share of equal verdicts; high for any judge if nearly all answers pass."""
    precision: float | None
    """Share of the judge's fails that annotators fail too."""
    recall: float | None
    """Share of the annotators' fails that the judge fails too; equals `specificity`."""
    sensitivity: float | None
    """Share of the annotators' passes that the judge passes too."""
    specificity: float | None
    """Share of the annotators' fails that the judge fails too."""
    prevalence: float | None
    """Share of answers that annotators pass."""


def judge_counts(judge: Sequence[bool | None], annotators: Sequence[bool | None]) -> JudgeCounts:
    """Count the verdicts of judge and annotators (True for pass).

    Args:
        judge: Verdicts of shape (n,); None is missing and drops the pair.
        annotators: Verdicts on the same answers, in the same order.

    Raises:
        ValueError: The sequences differ in length.
    """
    if len(judge) != len(annotators):
        raise ValueError(
            f"expected verdicts on the same answers, got {len(judge)}, {len(annotators)}"
        )
    pairs = [(j, a) for j, a in zip(judge, annotators, strict=True) if None not in (j, a)]
    return JudgeCounts(
        true_pass=pairs.count((True, True)),
        false_pass=pairs.count((True, False)),
        true_fail=pairs.count((False, False)),
        false_fail=pairs.count((False, True)),
    )


def judge_accuracy(counts: JudgeCounts) -> JudgeAccuracy:
    """Compute the figures, precision and recall of "fail"; raise ValueError if a count is < 0."""
    if min(counts) < 0:
        raise ValueError(f"expected counts of 0 or more, got {tuple(counts)}")
    passed, failed = counts.true_pass + counts.false_fail, counts.true_fail + counts.false_pass
    n = sum(counts)
    judged_failed = counts.true_fail + counts.false_fail
    return JudgeAccuracy(
        n=n,
        accuracy=_share(counts.true_pass + counts.true_fail, n),
        precision=_share(counts.true_fail, judged_failed),
        recall=_share(counts.true_fail, failed),
        sensitivity=_share(counts.true_pass, passed),
        specificity=_share(counts.true_fail, failed),
        prevalence=_share(passed, n),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
