"""How far people agree with each other, and with themselves: on the answers as a whole. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import median
from typing import NamedTuple

from evalhub.statistics.alpha_interval import nominal_alpha_interval
from evalhub.statistics.interval import Interval
from evalhub.statistics.judge_accuracy import JudgeCounts, judge_counts
from evalhub.statistics.judge_intervals import judge_intervals
from evalhub.statistics.kappa import kappa_from_confusion
from evalhub.statistics.krippendorff import (
    Band,
    alpha_from_coincidences,
    band,
    coincidences,
    summed,
)

SEED = 1
FEWEST = 2
RARE = 0.1
"""Where one of the two verdicts is rarer than this, kappa is low however often people agree."""

FEW_BOTH = "Fewer than 2 answers were reviewed by both."
ONE_VERDICT = "Both gave one and the same verdict throughout: kappa is not defined."


class EvaluationScope(StrEnum):
    """Which verdicts are compared: those given blind, or all of them."""

    BLIND = "blind"
    ALL = "all"


class AnnotatorVerdict(NamedTuple):
    """What one person says of one answer as a whole, and where that belongs.

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
    """The opinions on each answer that at least two people judged, by who gave them."""
    found: dict[int, list[AnnotatorVerdict]] = defaultdict(list)
    for one in sorted(annotator_verdicts, key=lambda one: (one.result, one.who)):
        found[one.result].append(one)
    return [mine for mine in found.values() if len(mine) > 1]


# Two people ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graded:
    """Kappa by degree, weighted by the squared steps of the scale, on `n` answers."""

    kappa: float | None
    n: int


@dataclass(frozen=True)
class Pair:
    """Two people, the lower id first, on the answers that both judged.

    Attributes:
        n: Answers; on `same` of them both say pass, or both say fail.
        raw: The interval of same / n, resampled by issue.
        kappa: Cohen's, of pass and fail; None: `why_not` says why there is none.
        graded: On the scale with more than two options that they share most; None: on none.
        rarest: The share of the rarer of the two verdicts among all that they gave.
    """

    first: int
    second: int
    n: int
    same: int
    raw: Interval | None
    kappa: float | None
    interval: Interval | None
    graded: Graded | None
    rarest: float
    why_not: str

    @property
    def is_lopsided(self) -> bool:
        return self.n >= FEWEST and round(self.rarest, 9) < RARE


def pairs(annotator_verdicts: Iterable[AnnotatorVerdict]) -> list[Pair]:
    """Each two people that judged the same answer at least once; most answers first."""
    both: dict[tuple[int, int], list[Both]] = defaultdict(list)
    for mine in by_answer(annotator_verdicts):
        for one, other in combinations(mine, 2):
            both[one.who, other.who].append((one, other))
    found = [_pair(who, mine) for who, mine in both.items()]
    return sorted(found, key=lambda pair: (-pair.n, pair.first, pair.second))


def _pair(who: tuple[int, int], both: Sequence[Both]) -> Pair:
    counts, intervals = _counts(both), judge_intervals(_by_issue(both), seed=SEED)
    is_enough = len(both) >= FEWEST
    kappa = kappa_from_confusion(counts.as_pairs()) if is_enough else None
    given = Counter(one.passed for pair in both for one in pair)
    return Pair(
        *who,
        n=len(both),
        same=counts.true_pass + counts.true_fail,
        raw=intervals.accuracy,
        kappa=kappa,
        interval=intervals.kappa if kappa is not None else None,
        graded=_graded(both) if is_enough else None,
        rarest=min(given[True], given[False]) / given.total(),
        why_not="" if kappa is not None else ONE_VERDICT if is_enough else FEW_BOTH,
    )


def _counts(both: Iterable[Both]) -> JudgeCounts:
    both = list(both)
    return judge_counts([one.passed for one, _ in both], [other.passed for _, other in both])


def _by_issue(both: Iterable[Both]) -> list[JudgeCounts]:
    found: dict[int, list[Both]] = defaultdict(list)
    for pair in both:
        found[pair[0].issue].append(pair)
    return [_counts(mine) for _, mine in sorted(found.items())]


def _graded(both: Iterable[Both]) -> Graded | None:
    by_scale: dict[tuple[float, ...], Counter[tuple[float, float]]] = defaultdict(Counter)
    for one, other in both:
        if one.scale == other.scale and len(one.scale) > 2:
            by_scale[one.scale][one.value, other.value] += 1
    if not by_scale:
        return None
    scale, counts = max(by_scale.items(), key=lambda item: (item[1].total(), item[0]))
    levels = sorted({*scale, *(value for pair in counts for value in pair)})
    kappa = kappa_from_confusion(counts, weights="quadratic", levels=levels)
    return Graded(kappa if counts.total() >= FEWEST else None, counts.total())


# All of them --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupAgreement:
    """Everybody who judged the answers of one group.

    `answers` were judged by two people at least, `people` in all. `same` of `compared` pairs of
    verdicts on one answer are equal. `alpha` is Krippendorff's, of pass and fail; `band` says what
    it is worth, or why there is none.
    """

    group: Hashable
    answers: int
    people: int
    same: int
    compared: int
    raw: Interval | None
    alpha: float | None
    interval: Interval | None
    band: Band


def group_agreement(
    annotator_verdicts: Iterable[AnnotatorVerdict],
    groups: Callable[[AnnotatorVerdict], Iterable[Hashable]],
) -> list[GroupAgreement]:
    """Each group that an answer belongs to; most answers first."""
    found: dict[Hashable, list[list[AnnotatorVerdict]]] = defaultdict(list)
    for mine in by_answer(annotator_verdicts):
        for group in groups(mine[0]):
            found[group].append(mine)
    lines = [_group_agreement(group, answers) for group, answers in found.items()]
    return sorted(lines, key=lambda line: (-line.answers, str(line.group)))


def _group_agreement(
    group: Hashable, answers: Sequence[Sequence[AnnotatorVerdict]]
) -> GroupAgreement:
    both = [pair for mine in answers for pair in combinations(mine, 2)]
    counts = _counts(both)
    units: dict[int, list[list[float]]] = defaultdict(list)
    for mine in answers:
        units[mine[0].issue].append([float(one.passed) for one in mine])
    clusters = [coincidences(mine) for _, mine in sorted(units.items())]
    people = len({one.who for mine in answers for one in mine})
    alpha = alpha_from_coincidences(summed(clusters), "nominal")
    worth = band(alpha, raters=people, units=len(answers))
    is_reported = worth not in (Band.TOO_LITTLE_DATA, Band.NO_VARIATION)
    return GroupAgreement(
        group=group,
        answers=len(answers),
        people=people,
        same=counts.true_pass + counts.true_fail,
        compared=len(both),
        raw=judge_intervals(_by_issue(both), seed=SEED).accuracy,
        alpha=alpha if is_reported else None,
        interval=nominal_alpha_interval(clusters, seed=SEED) if is_reported else None,
        band=worth,
    )


# One person ---------------------------------------------------------------------------------------


class RepeatedVerdict(NamedTuple):
    """Two verdicts of one person on one answer, the second given blind, from a queue."""

    who: int
    issue: int
    first: bool
    second: bool


@dataclass(frozen=True)
class SelfAgreement:
    """How far a person says the same again; as `Pair`."""

    who: int
    n: int
    same: int
    raw: Interval | None
    kappa: float | None
    interval: Interval | None
    why_not: str


def self_agreement(again: Iterable[RepeatedVerdict]) -> list[SelfAgreement]:
    by_person: dict[int, list[RepeatedVerdict]] = defaultdict(list)
    for one in again:
        by_person[one.who].append(one)
    return [_self_agreement(who, mine) for who, mine in sorted(by_person.items())]


def _self_agreement(who: int, mine: Sequence[RepeatedVerdict]) -> SelfAgreement:
    by_issue: dict[int, list[RepeatedVerdict]] = defaultdict(list)
    for one in mine:
        by_issue[one.issue].append(one)
    clusters = [_said_twice(some) for _, some in sorted(by_issue.items())]
    counts, intervals = _said_twice(mine), judge_intervals(clusters, seed=SEED)
    is_enough = len(mine) >= FEWEST
    kappa = kappa_from_confusion(counts.as_pairs()) if is_enough else None
    return SelfAgreement(
        who=who,
        n=len(mine),
        same=counts.true_pass + counts.true_fail,
        raw=intervals.accuracy,
        kappa=kappa,
        interval=intervals.kappa if kappa is not None else None,
        why_not=""
        if kappa is not None
        else "One verdict throughout: kappa is not defined."
        if is_enough
        else "Fewer than 2 answers were reviewed again.",
    )


def _said_twice(mine: Iterable[RepeatedVerdict]) -> JudgeCounts:
    mine = list(mine)
    return judge_counts([one.first for one in mine], [one.second for one in mine])


class Work(NamedTuple):
    """What one person did, added up.

    Attributes:
        evaluations: Verdicts given, those replaced or withdrawn since too, adjudications aside.
        opinions: Whole answers on which a verdict of theirs stands.
        settled: Of those, answers that somebody adjudicated; `overruled`: to the other side.
        adjudications: Disputes that they settled.
        seconds: How long a verdict took, where that was measured.
    """

    who: int
    evaluations: int
    annotator_verdicts: int
    settled: int
    overruled: int
    adjudications: int
    seconds: tuple[int, ...]

    @property
    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None


def overruled(
    annotator_verdicts: Iterable[AnnotatorVerdict], adjudicated: Mapping[int, bool]
) -> tuple[Counter[int], Counter[int]]:
    """How often each person's verdict was settled, and how often to the other side.

    Args:
        adjudicated: Whether an answer passes by whoever settled it.
    """
    settled: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for one in annotator_verdicts:
        if one.result in adjudicated:
            settled[one.who] += 1
            lost[one.who] += adjudicated[one.result] != one.passed
    return settled, lost
