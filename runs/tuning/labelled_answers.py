"""Which answers both people and a judge decided, and what each of them said."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from issues.models import FrozenCriterion, JudgeTemplate, Tag
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import consensus
from runs.models import (
    ChosenBy,
    EvaluationKind,
    HumanEvaluation,
    Judge,
    Judgment,
    Result,
    Suite,
    TagSet,
)
from runs.scoring.active_evaluations import Evaluation, human_score_of, withdrawn
from runs.tuning.models import AnnotatorFilter
from runs.tuning.pass_lines import Frozen, pass_line_of

DISPUTED = "disputed"
SPOKEN = (EvaluationKind.EVALUATION, EvaluationKind.ADJUDICATION)
SLICE = 1000

CriterionPosition = tuple[int, int]
"""A result and one of its criteria, by their ids."""


@dataclass(frozen=True)
class Chosen:
    """Whose verdicts a judge is measured by."""

    template: JudgeTemplate
    judge: Judge
    suite: Suite | None = None
    tag: Tag | None = None
    annotators: str = AnnotatorFilter.ALL


@dataclass(frozen=True)
class LabelledAnswer:
    """One answer, or one criterion of it, that people decided and the judge was asked about."""

    result: int
    criterion: int
    judge_run: int
    test: int
    asked: str
    value: float
    passed: bool
    judge_value: float | None
    judge_passed: bool | None


@dataclass(frozen=True)
class Found:
    """All that can be measured, and how many could not be, by reason."""

    labelled: list[LabelledAnswer]
    left_out: Counter[str] = field(default_factory=Counter)


class AnnotatorVerdict(NamedTuple):
    """One evaluation; `drawn`: the answer came at random, and nothing was seen of its judges."""

    pk: int
    annotator_id: int
    kind: str
    value: float | None
    drawn: bool


def verdicts_of(chosen: Chosen) -> Found:
    """What people and the judge said, in a fixed number of queries for so many results."""
    said = _said(chosen)
    scale = from_json(chosen.template.scale)
    found = Found([])
    places = sorted(said)
    for start in range(0, len(places), SLICE):
        some = places[start : start + SLICE]
        judged = _judged(chosen, {result for result, _ in some})
        frozen = _frozen({criterion for _, criterion in some})
        results = _results({result for result, _ in some})
        for place in some:
            if place in judged:
                _decide(place, said[place], judged[place], frozen, results, scale, chosen, found)
    return found


def evaluations_of(chosen: Chosen) -> QuerySet[HumanEvaluation]:
    """All that people said, withdrawals included, where this judge was asked with this version."""
    asked = Judgment.objects.filter(
        judge=chosen.judge,
        template=chosen.template,
        result=OuterRef("result"),
        criterion=OuterRef("criterion"),
    )
    rows = HumanEvaluation.objects.filter(Exists(asked))
    if chosen.suite:
        rows = rows.filter(result__run__suite=chosen.suite)
    if chosen.tag:
        rows = rows.filter(result__tag_set__in=_tag_sets(chosen.tag))
    return rows


def _tag_sets(tag: Tag) -> list[int]:
    sets = TagSet.objects.values_list("pk", "names")
    return [pk for pk, names in sets if tag.name in names]


SAID = ("result_id", "criterion_id", "pk", "annotator_id", "kind", "value", "chosen_by", "blind")


def _said(chosen: Chosen) -> dict[CriterionPosition, list[AnnotatorVerdict]]:
    said: dict[CriterionPosition, list[AnnotatorVerdict]] = defaultdict(list)
    rows = evaluations_of(chosen).order_by("pk").values_list(*SAID)
    for result, criterion, pk, who, kind, value, by, blind in rows:
        drawn = blind and by == ChosenBy.QUEUE_RANDOM
        said[result, criterion].append(AnnotatorVerdict(pk, who, kind, value, drawn))
    return said


def counting(voices: Sequence[AnnotatorVerdict], annotators: str) -> list[AnnotatorVerdict]:
    """Those that count: all, or what was drawn and said blind, with what settled it.

    What somebody took back does not count there; what they said later, having seen more, neither.
    """
    if annotators == AnnotatorFilter.ALL:
        return list(voices)
    undone = {voice.pk for voice in withdrawn(voices)}
    left = [voice for voice in voices if voice.pk not in undone and voice.kind != "withdrawal"]
    if not any(voice.drawn for voice in left):
        return []
    return [voice for voice in left if voice.drawn or voice.kind == "adjudication"]


class Judged(NamedTuple):
    """What the judge said in its newest judging of a result; None where it gave no verdict."""

    judge_run: int
    value: float | None


def _judged(chosen: Chosen, results: set[int]) -> dict[CriterionPosition, Judged]:
    rows = Judgment.objects.filter(
        judge=chosen.judge, template=chosen.template, result__in=results, order=0
    ).order_by("judge_run", "sample")
    samples: dict[CriterionPosition, dict[int, list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for result, criterion, judge_run, value in rows.values_list(
        "result_id", "criterion_id", "judge_run_id", "value"
    ):
        samples[result, criterion][judge_run].append(value)
    return {
        place: Judged(newest := max(found), consensus(found[newest]))
        for place, found in samples.items()
    }


def _frozen(criteria: set[int]) -> dict[int, FrozenCriterion]:
    rows = FrozenCriterion.objects.filter(pk__in=criteria)
    return {row.pk: row for row in rows.only("pk", "key", "polarity")}


def _results(ids: set[int]) -> dict[int, dict[str, Any]]:
    rows = Result.objects.filter(pk__in=ids).order_by()
    return {
        row["pk"]: row
        for row in rows.values(
            "pk",
            "test_id",
            "revision__asked_digest",
            "revision__pass_threshold",
            "revision__pass_rule",
        )
    }


def _decide(
    place: CriterionPosition,
    voices: Sequence[AnnotatorVerdict],
    judged: Judged,
    criteria: Mapping[int, FrozenCriterion],
    results: Mapping[int, dict[str, Any]],
    scale: Scale,
    chosen: Chosen,
    found: Found,
) -> None:
    """Add what both said to what is found, or count why it is left out."""
    verdict = human_score_of(
        Evaluation(v.annotator_id, v.kind, v.value) for v in counting(voices, chosen.annotators)
    )
    if verdict is None:
        return
    criterion, row = criteria[place[1]], results[place[0]]
    frozen = Frozen(
        criterion.key,
        criterion.is_inverted,
        row["revision__pass_threshold"],
        row["revision__pass_rule"],
    )
    line = pass_line_of(frozen, scale, scale)
    sides = {line.passed(value) for value in verdict.values}
    if len(sides) > 1:
        found.left_out[DISPUTED] += 1
        return
    found.labelled.append(
        LabelledAnswer(
            *place,
            judge_run=judged.judge_run,
            test=row["test_id"],
            asked=row["revision__asked_digest"],
            value=verdict.score,
            passed=bool(sides.pop()),
            judge_value=judged.value,
            judge_passed=line.passed(judged.value),
        )
    )


# What can be chosen ------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A judge with a version of a template, and how many answers of theirs people judged too."""

    judge: int
    template: int
    answers: int


def pairs() -> list[Pair]:
    """Judges and versions whose verdicts can be compared with people's, the most frequent first."""
    # Joined, so that a database begins with what people said, which is little.
    rows = Judgment.objects.filter(
        result__evaluations__criterion=F("criterion"),
        result__evaluations__kind__in=SPOKEN,
        judge__isnull=False,
        template__isnull=False,
    )
    counted = rows.order_by().values_list("judge", "template")
    found = [Pair(*row) for row in counted.annotate(n=Count("result", distinct=True))]
    return sorted(found, key=lambda pair: (-pair.answers, -pair.template, pair.judge))
