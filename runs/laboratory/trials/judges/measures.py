"""Measures of a judge by its verdicts on claims of known truth. Pure.

A verdict that failed is counted and takes no part in any figure. None stands for what was not
measured, such as transitivity where no two verdicts have an artifact in common.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from evalhub.statistics.judges.balanced_accuracy import BalancedAccuracy, Ideas, balanced_accuracy
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from runs.laboratory.trials.claims.claim_rule import Kind

EQUALITIES = frozenset({Kind.EQUAL, Kind.DIFFERENT, Kind.LOOP, Kind.PART, Kind.CONTEXT})
"""Kinds whose verdicts must be transitive."""

Text = tuple[int, int | None]
"""A text that was shown: an artifact, and its part or None for all of it."""


@dataclass(frozen=True)
class ClaimVerdict:
    """A judge's verdict on a claim, as it was shown.

    Attributes:
        task: What the judge was asked to do; equal and different are answers to one question.
        truth: Of the claim as shown: a rank claim says that the first text is better.
        verdict: Whether the judge holds that to be true; None: it failed.
        shown: The texts in the order shown; of a rank claim, those that were compared.
        anchor: The description of a rank claim.
        score: On the scale of the judge's template; None without one.
    """

    kind: str
    task: str
    truth: bool
    verdict: bool | None
    shown: tuple[Text, Text]
    ideas: Ideas
    topic: str = ""
    cluster: str = ""
    is_hard: bool = False
    score: float | None = None
    anchor: int | None = None

    @property
    def question(self) -> tuple[Hashable, ...]:
        """Return an identity of the question, the same for every judge."""
        return self.kind == Kind.RANK, self.task, self.anchor, *self.shown

    @property
    def is_right(self) -> bool | None:
        return None if self.verdict is None else self.verdict == self.truth


class Share(NamedTuple):
    """A count out of n, which is 1 or more."""

    part: int
    n: int

    @property
    def share(self) -> float:
        return self.part / self.n


class Violation(NamedTuple):
    """Texts that break transitivity: first ~ middle and middle ~ last, but not first ~ last."""

    first: Text
    middle: Text
    last: Text


@dataclass(frozen=True)
class JudgeMeasures:
    """Figures of one judge on some claims.

    Attributes:
        asked: Verdicts asked for, those that failed included.
        counts: Confusion matrix; "pass" stands for the verdict that a claim is true.
        balanced: None unless there are true and false claims.
        right: Right verdicts among all.
        hard_false: Claims of two ideas of a cluster that the judge took for true.
        symmetric: Pairs with consistent verdicts in both orders.
        transitive: Held among premises a ~ b, b ~ c with a verdict on a and c.
        prefers_first: Rank claims on which the first text won in both orders; `prefers_second`
            the second.
        scores: Number of verdicts by truth of the claim and score.
    """

    asked: int
    failed: int
    counts: JudgeCounts
    balanced: BalancedAccuracy | None
    right: Share | None
    hard_false: Share | None
    symmetric: Share | None
    transitive: Share | None
    violations: tuple[Violation, ...]
    prefers_first: Share | None
    prefers_second: Share | None
    scores: Mapping[bool, Mapping[float, int]] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        return self.asked - self.failed

    @property
    def sensitivity(self) -> Share | None:
        return share_of(self.counts.true_pass, self.counts.true_pass + self.counts.false_fail)

    @property
    def specificity(self) -> Share | None:
        return share_of(self.counts.true_fail, self.counts.true_fail + self.counts.false_pass)


def share_of(part: int, n: int) -> Share | None:
    return Share(part, n) if n else None


def measures_of(verdicts: Iterable[ClaimVerdict], *, level: float = 0.95) -> JudgeMeasures:
    """Compute all figures of a judge's verdicts."""
    asked = list(verdicts)
    scored = [one for one in asked if one.verdict is not None]
    cells = counts_by_ideas(scored)
    counts = total_of(cells.values())
    hard = [one.verdict for one in scored if one.is_hard and not one.truth]
    held, violations = _transitivity(scored)
    first, second, ranked = _preferences(scored)
    return JudgeMeasures(
        asked=len(asked),
        failed=len(asked) - len(scored),
        counts=counts,
        balanced=balanced_accuracy(cells, level=level),
        right=share_of(counts.true_pass + counts.true_fail, len(scored)),
        hard_false=share_of(sum(map(bool, hard)), len(hard)),
        symmetric=_symmetry(scored),
        transitive=share_of(held, held + len(violations)),
        violations=violations,
        prefers_first=share_of(first, ranked),
        prefers_second=share_of(second, ranked),
        scores={
            truth: Counter(
                one.score for one in scored if one.truth is truth and one.score is not None
            )
            for truth in (True, False)
        },
    )


def counts_by_ideas(verdicts: Iterable[ClaimVerdict]) -> dict[Ideas, JudgeCounts]:
    """Return the confusion matrix of each idea or pair of ideas, in any order."""
    found: dict[Ideas, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for one in verdicts:
        if one.verdict is None:
            continue
        low, high = sorted(one.ideas, key=str)
        # As in `JudgeCounts`: true pass, false pass, true fail, false fail.
        place = (0 if one.truth else 1) if one.verdict else (3 if one.truth else 2)
        found[low, high][place] += 1
    return {ideas: JudgeCounts(*cell) for ideas, cell in found.items()}


def total_of(cells: Iterable[JudgeCounts]) -> JudgeCounts:
    columns = list(zip(*cells, strict=True)) or [(), (), (), ()]
    return JudgeCounts(*(sum(column) for column in columns))


def _pairs(
    scored: Sequence[ClaimVerdict],
) -> dict[tuple[Hashable, ...], tuple[bool, bool]]:
    """Return the verdicts in both orders of each pair that has both, by question and texts."""
    by_question = {one.question: bool(one.verdict) for one in scored}
    found = {}
    for one in scored:
        first, second = one.shown
        turned = by_question.get((*one.question[:3], second, first))
        if turned is not None and str(first) < str(second):
            found[one.question] = (bool(one.verdict), turned)
    return found


def is_consistent(given: bool, turned: bool, *, is_rank: bool) -> bool:
    """Return whether the verdicts in both orders are one: opposite ones on a rank claim.

    The better of two texts is the first in one order and the second in the other.
    """
    return (given != turned) if is_rank else (given == turned)


def _symmetry(scored: Sequence[ClaimVerdict]) -> Share | None:
    """Return the share of pairs with consistent verdicts."""
    pairs = _pairs(scored)
    held = sum(
        is_consistent(given, turned, is_rank=bool(is_rank))
        for (is_rank, *_), (given, turned) in pairs.items()
    )
    return share_of(held, len(pairs))


def _preferences(scored: Sequence[ClaimVerdict]) -> tuple[int, int, int]:
    """Return how many ranked pairs the first, and the second, shown text won in both orders."""
    ranked = [one for one in scored if one.kind == Kind.RANK]
    pairs = list(_pairs(ranked).values())
    return pairs.count((True, True)), pairs.count((False, False)), len(pairs)


def _transitivity(scored: Sequence[ClaimVerdict]) -> tuple[int, tuple[Violation, ...]]:
    """Return how many premises held, and the violations.

    A pair with different verdicts in its two orders is neither equal nor different here.
    """
    verdicts: dict[frozenset[Text], set[bool]] = defaultdict(set)
    for one in scored:
        if one.kind in EQUALITIES and one.shown[0] != one.shown[1]:
            verdicts[frozenset(one.shown)].add(bool(one.verdict))
    equal: dict[Text, set[Text]] = defaultdict(set)
    for pair, given in verdicts.items():
        if given == {True}:
            first, second = pair
            equal[first].add(second)
            equal[second].add(first)
    held, violations = 0, []
    for middle in sorted(equal, key=str):
        for first, last in combinations(sorted(equal[middle], key=str), 2):
            given = verdicts.get(frozenset((first, last)), set())
            held += given == {True}
            if given == {False}:
                violations.append(Violation(first, middle, last))
    return held, tuple(violations)
