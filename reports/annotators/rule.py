"""Agreement of annotators with each other and with themselves, on whole answers. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from evalhub.statistics.agreement.alpha_bands import Band, band, is_enough
from evalhub.statistics.agreement.alpha_interval import alpha_interval
from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.agreement.krippendorff import alpha_from_coincidences, coincidences, summed
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.judges.judge_metrics import SEED, counts_by_issue, judge_metrics
from reports.judge_reliability.accuracy_rule import RARE
from runs.figures.rate import Rate, rate_of_issues

MIN_ANSWERS = 2
FEW_BOTH = "Fewer than 2 answers were reviewed by both."
ONE_VERDICT = "Both gave the same single verdict throughout: kappa is not defined."


class EvaluationScope(StrEnum):
    """The verdicts compared: those given blind, or all."""

    BLIND = "blind"
    ALL = "all"


class AnnotatorVerdict(NamedTuple):
    """An annotator's verdict on a whole answer, with the groups of that answer.

    `scale` are the values of its scale, ascending; `tags` the id of its set of tags.
    """

    who: int
    result: int
    issue: int
    suite: int | None
    tags: int
    scale: tuple[float, ...]
    value: float
    passed: bool
    blind: bool


Both = tuple[AnnotatorVerdict, AnnotatorVerdict]


def seen(
    annotator_verdicts: Iterable[AnnotatorVerdict], scope: EvaluationScope
) -> list[AnnotatorVerdict]:
    return [one for one in annotator_verdicts if one.blind or scope is EvaluationScope.ALL]


def by_answer(annotator_verdicts: Iterable[AnnotatorVerdict]) -> list[list[AnnotatorVerdict]]:
    """Return the verdicts on each answer with at least two annotators, by annotator."""
    found: dict[int, list[AnnotatorVerdict]] = defaultdict(list)
    for one in sorted(annotator_verdicts, key=lambda one: (one.result, one.who)):
        found[one.result].append(one)
    return [mine for mine in found.values() if len(mine) > 1]


@dataclass(frozen=True)
class WeightedKappa:
    """Cohen's kappa, weighted by the squared steps of the scale, on `n` answers."""

    kappa: float | None
    n: int


@dataclass(frozen=True)
class Pair:
    """Two annotators, the lower id first, on the answers that both judged.

    Attributes:
        n: Answers.
        same: The share of them on which both pass, or both fail.
        kappa: Cohen's, of pass and fail. `why_not`: why it, or its interval, is None.
        graded: On their most common scale with more than two options; None without one.
        rarest: The share of the rarer verdict among all they gave.
    """

    first: int
    second: int
    n: int
    same: Rate
    kappa: float | None
    interval: Interval | None
    graded: WeightedKappa | None
    rarest: float
    why_not: str

    @property
    def is_lopsided(self) -> bool:
        return self.n >= MIN_ANSWERS and round(self.rarest, 9) < RARE


def pairs(annotator_verdicts: Iterable[AnnotatorVerdict]) -> list[Pair]:
    """Compare every two annotators with an answer in common, most answers first."""
    both: dict[tuple[int, int], list[Both]] = defaultdict(list)
    for mine in by_answer(annotator_verdicts):
        for one, other in combinations(mine, 2):
            both[one.who, other.who].append((one, other))
    found = [_pair(who, mine) for who, mine in both.items()]
    return sorted(found, key=lambda pair: (-pair.n, pair.first, pair.second))


def _pair(who: tuple[int, int], both: Sequence[Both]) -> Pair:
    found = _agreement([(one.issue, one.passed, other.passed) for one, other in both])
    is_enough = len(both) >= MIN_ANSWERS
    if found["kappa"] is None:
        found["why_not"] = ONE_VERDICT if is_enough else FEW_BOTH
    given = Counter(one.passed for pair in both for one in pair)
    return Pair(
        *who,
        **found,
        graded=_graded(both) if is_enough else None,
        rarest=min(given[True], given[False]) / given.total(),
    )


def _agreement(verdicts: Sequence[tuple[int, bool, bool]]) -> dict[str, Any]:
    """Measure (issue, one verdict, the other): the fields of `Pair` and `SelfAgreement`."""
    found = judge_metrics(verdicts)
    return {
        "n": found.n,
        "same": _same(found.by_issue),
        "kappa": found.kappa if found.n >= MIN_ANSWERS else None,
        "interval": found.intervals.kappa,
        "why_not": found.why_no_interval,
    }


def _same(by_issue: Iterable[JudgeCounts], *, pairs_each: int = 1) -> Rate:
    """Return the share of equal verdicts.

    Args:
        pairs_each: Pairs of verdicts on each answer: they are no further answers.
    """
    equal = [(one.true_pass + one.true_fail, sum(one)) for one in by_issue]
    return rate_of_issues(equal, answers=pairs_each)


def _graded(both: Iterable[Both]) -> WeightedKappa | None:
    by_scale: dict[tuple[float, ...], Counter[tuple[float, float]]] = defaultdict(Counter)
    for one, other in both:
        if one.scale == other.scale and len(one.scale) > 2:
            by_scale[one.scale][one.value, other.value] += 1
    if not by_scale:
        return None
    scale, counts = max(by_scale.items(), key=lambda item: (item[1].total(), item[0]))
    levels = sorted({*scale, *(value for pair in counts for value in pair)})
    kappa = kappa_from_confusion(counts, weights="quadratic", levels=levels)
    return WeightedKappa(kappa if counts.total() >= MIN_ANSWERS else None, counts.total())


Group = tuple[str, str]
"""The kind of group ("all", "suite" or "tag") and its name."""


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement of all annotators on one group of answers.

    `answers` have two annotators at least. `same` is the share of equal pairs of verdicts.
    `alpha` is Krippendorff's, of pass and fail; `band` its reliability, or why there is none.
    """

    group: Group
    answers: int
    annotators: int
    same: Rate
    alpha: float | None
    interval: Interval | None
    band: Band


def group_agreement(
    annotator_verdicts: Iterable[AnnotatorVerdict],
    groups: Callable[[AnnotatorVerdict], Iterable[Group]],
) -> list[GroupAgreement]:
    """Measure each group of answers, those with most answers first."""
    found: dict[Group, list[list[AnnotatorVerdict]]] = defaultdict(list)
    for mine in by_answer(annotator_verdicts):
        for group in groups(mine[0]):
            found[group].append(mine)
    lines = [_group_agreement(group, answers) for group, answers in found.items()]
    return sorted(lines, key=lambda line: (-line.answers, str(line.group)))


def _group_agreement(group: Group, answers: Sequence[Sequence[AnnotatorVerdict]]) -> GroupAgreement:
    compared = counts_by_issue(
        (one.issue, one.passed, other.passed)
        for mine in answers
        for one, other in combinations(mine, 2)
    )
    units: dict[int, list[list[float]]] = defaultdict(list)
    for mine in answers:
        units[mine[0].issue].append([float(one.passed) for one in mine])
    clusters = [coincidences(mine) for _, mine in sorted(units.items())]
    annotators = len({one.who for mine in answers for one in mine})
    alpha = alpha_from_coincidences(summed(clusters), "nominal")
    interval = alpha_interval(clusters, "nominal", seed=SEED)
    reliability = band(alpha, interval, raters=annotators, units=len(answers))
    is_reported = is_enough(raters=annotators, units=len(answers))
    return GroupAgreement(
        group=group,
        answers=len(answers),
        annotators=annotators,
        same=_same(compared.values(), pairs_each=max(comb(len(mine), 2) for mine in answers)),
        alpha=alpha if is_reported else None,
        interval=interval if is_reported else None,
        band=reliability,
    )


class RepeatedVerdict(NamedTuple):
    """Two verdicts of one annotator on one answer, the second blind and from a queue."""

    who: int
    issue: int
    first: bool
    second: bool


@dataclass(frozen=True)
class SelfAgreement:
    """Agreement of an annotator's first and repeated verdicts; as `Pair`."""

    who: int
    n: int
    same: Rate
    kappa: float | None
    interval: Interval | None
    why_not: str


def self_agreement(again: Iterable[RepeatedVerdict]) -> list[SelfAgreement]:
    by_annotator: dict[int, list[tuple[int, bool, bool]]] = defaultdict(list)
    for one in again:
        by_annotator[one.who].append((one.issue, one.first, one.second))
    lines = []
    for who, mine in sorted(by_annotator.items()):
        found = _agreement(mine)
        if len(mine) < MIN_ANSWERS:
            found["why_not"] = "Fewer than 2 answers were reviewed again."
        elif found["kappa"] is None:
            found["why_not"] = "A single verdict throughout: kappa is not defined."
        lines.append(SelfAgreement(who, **found))
    return lines


class Work(NamedTuple):
    """The totals of one annotator.

    Attributes:
        evaluations: Verdicts given, with those replaced or withdrawn, without adjudications.
        annotator_verdicts: Whole answers with an active verdict of theirs.
        settled: Of those, answers adjudicated by others; `overruled`: to the other outcome.
        adjudications: Disputes that they settled.
        seconds: Durations of their verdicts, where measured.
    """

    who: int
    evaluations: int
    annotator_verdicts: int
    settled: int
    overruled: int
    adjudications: int
    seconds: tuple[int, ...]


def overruled(
    annotator_verdicts: Iterable[AnnotatorVerdict], adjudicated: Mapping[int, bool]
) -> tuple[Counter[int], Counter[int]]:
    """Count each annotator's adjudicated verdicts, and those decided the other way.

    Args:
        adjudicated: The adjudicated outcome by result; True is passed.
    """
    settled: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for one in annotator_verdicts:
        if one.result in adjudicated:
            settled[one.who] += 1
            lost[one.who] += adjudicated[one.result] != one.passed
    return settled, lost
