"""How often a judge says what people say, where both say pass or fail.

The counts add up: those of several judgings give, summed, the figures of all of them together.
Kappa comes from the same counts: `kappa_from_confusion(counts.as_pairs())`.
"""

from collections.abc import Sequence
from typing import NamedTuple


class JudgeCounts(NamedTuple):
    """The confusion matrix of a judge: its verdict, and whether people agree with it."""

    true_pass: int
    """Both said pass."""
    false_pass: int
    """The judge said pass, people said fail: a fault that the judge let through."""
    true_fail: int
    """Both said fail."""
    false_fail: int
    """The judge said fail, people said pass: a false alarm."""

    def as_pairs(self) -> dict[tuple[float, float], int]:
        """As {(judge, people): count} with 1 for pass and 0 for fail, for Cohen's kappa."""
        pairs = {
            (1.0, 1.0): self.true_pass,
            (1.0, 0.0): self.false_pass,
            (0.0, 0.0): self.true_fail,
            (0.0, 1.0): self.false_fail,
        }
        return {pair: count for pair, count in pairs.items() if count}


class JudgeAccuracy(NamedTuple):
    """Shares in [0, 1], people being right; each None where it is a share of nothing."""

    n: int
    """Verdicts that both gave."""
    accuracy: float | None
    """Of all: judge and people say the same. Where nearly all pass it is high for any judge."""
    precision: float | None
    """Of what the judge failed: people failed it too."""
    recall: float | None
    """Of what people failed: the judge failed it too. The same number as `specificity`."""
    sensitivity: float | None
    """Of what people passed: the judge passed it too."""
    specificity: float | None
    """Of what people failed: the judge failed it too."""
    prevalence: float | None
    """Of all: people passed it."""


def judge_counts(judge: Sequence[bool | None], people: Sequence[bool | None]) -> JudgeCounts:
    """How often the judge said pass or fail (True, False), and people the one or the other.

    Args:
        judge: Whether it passed, shape (n,); None is no verdict, and drops the pair.
        people: Of the same answers, in the same order; None likewise.

    Raises:
        ValueError: The sequences differ in length.
    """
    if len(judge) != len(people):
        raise ValueError(f"expected verdicts on the same answers, got {len(judge)}, {len(people)}")
    pairs = [(j, p) for j, p in zip(judge, people, strict=True) if j is not None and p is not None]
    return JudgeCounts(
        true_pass=pairs.count((True, True)),
        false_pass=pairs.count((True, False)),
        true_fail=pairs.count((False, False)),
        false_fail=pairs.count((False, True)),
    )


def judge_accuracy(counts: JudgeCounts) -> JudgeAccuracy:
    """The figures of one confusion matrix. Precision and recall are those of finding a "fail".

    Raises:
        ValueError: A count is negative.
    """
    if min(counts) < 0:
        raise ValueError(f"expected counts of 0 or more, got {tuple(counts)}")
    passed, failed, n = _passed(counts), _failed(counts), sum(counts)
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


def _passed(counts: JudgeCounts) -> int:
    return counts.true_pass + counts.false_fail


def _failed(counts: JudgeCounts) -> int:
    return counts.true_fail + counts.false_pass


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
