"""Answers with verdicts of both annotators and a judge."""

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
VERDICT_KINDS = (EvaluationKind.EVALUATION, EvaluationKind.ADJUDICATION)
SLICE = 1000

CriterionPosition = tuple[int, int]
"""A result and one of its criteria, by their ids."""


@dataclass(frozen=True)
class Selection:
    """A judge with a template version, and the human verdicts to compare it with."""

    template: JudgeTemplate
    judge: Judge
    suite: Suite | None = None
    tag: Tag | None = None
    annotators: str = AnnotatorFilter.ALL


@dataclass(frozen=True)
class LabelledAnswer:
    """The human and the judge's verdict on one answer or one of its criteria."""

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
class LabelledAnswers:
    """Comparable answers, and the number left out by reason."""

    labelled: list[LabelledAnswer]
    left_out: Counter[str] = field(default_factory=Counter)


class AnnotatorVerdict(NamedTuple):
    """A human evaluation; `drawn`: blind, on a randomly drawn answer."""

    pk: int
    annotator_id: int
    kind: str
    value: float | None
    drawn: bool


def labelled_answers_of(selection: Selection) -> LabelledAnswers:
    """Read comparable answers, in a fixed number of queries per slice of results."""
    evaluations = _evaluations(selection)
    scale = from_json(selection.template.scale)
    found = LabelledAnswers([])
    places = sorted(evaluations)
    for start in range(0, len(places), SLICE):
        some = places[start : start + SLICE]
        judged = _judged(selection, {result for result, _ in some})
        frozen = _frozen({criterion for _, criterion in some})
        results = _results({result for result, _ in some})
        for place in some:
            if place in judged:
                _add(
                    place,
                    evaluations[place],
                    judged[place],
                    frozen,
                    results,
                    scale,
                    selection,
                    found,
                )
    return found


def evaluations_of(selection: Selection) -> QuerySet[HumanEvaluation]:
    """Return all human evaluations, withdrawals included, of answers judged by this selection."""
    asked = Judgment.objects.filter(
        judge=selection.judge,
        template=selection.template,
        result=OuterRef("result"),
        criterion=OuterRef("criterion"),
    )
    rows = HumanEvaluation.objects.filter(Exists(asked))
    if selection.suite:
        rows = rows.filter(result__run__suite=selection.suite)
    if selection.tag:
        rows = rows.filter(result__tag_set__in=_tag_sets(selection.tag))
    return rows


def _tag_sets(tag: Tag) -> list[int]:
    sets = TagSet.objects.values_list("pk", "names")
    return [pk for pk, names in sets if tag.name in names]


EVALUATION_FIELDS = (
    "result_id",
    "criterion_id",
    "pk",
    "annotator_id",
    "kind",
    "value",
    "chosen_by",
    "blind",
)


def _evaluations(selection: Selection) -> dict[CriterionPosition, list[AnnotatorVerdict]]:
    found: dict[CriterionPosition, list[AnnotatorVerdict]] = defaultdict(list)
    rows = evaluations_of(selection).order_by("pk").values_list(*EVALUATION_FIELDS)
    for result, criterion, pk, who, kind, value, by, blind in rows:
        drawn = blind and by == ChosenBy.QUEUE_RANDOM
        found[result, criterion].append(AnnotatorVerdict(pk, who, kind, value, drawn))
    return found


def counted(verdicts: Sequence[AnnotatorVerdict], annotators: str) -> list[AnnotatorVerdict]:
    """Return the verdicts that count: all, or blind ones on drawn answers plus adjudications.

    In the second case withdrawn verdicts and later ones by the same annotator do not count.
    """
    if annotators == AnnotatorFilter.ALL:
        return list(verdicts)
    undone = {verdict.pk for verdict in withdrawn(verdicts)}
    left = [
        verdict for verdict in verdicts if verdict.pk not in undone and verdict.kind != "withdrawal"
    ]
    if not any(verdict.drawn for verdict in left):
        return []
    return [verdict for verdict in left if verdict.drawn or verdict.kind == "adjudication"]


class Judged(NamedTuple):
    """The judge's value in its newest judge run of a result; None without a verdict."""

    judge_run: int
    value: float | None


def _judged(selection: Selection, results: set[int]) -> dict[CriterionPosition, Judged]:
    rows = Judgment.objects.filter(
        judge=selection.judge, template=selection.template, result__in=results, order=0
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


def _add(
    place: CriterionPosition,
    verdicts: Sequence[AnnotatorVerdict],
    judged: Judged,
    criteria: Mapping[int, FrozenCriterion],
    results: Mapping[int, dict[str, Any]],
    scale: Scale,
    selection: Selection,
    found: LabelledAnswers,
) -> None:
    """Add the answer to `found`, or count why it is left out."""
    verdict = human_score_of(
        Evaluation(v.annotator_id, v.kind, v.value) for v in counted(verdicts, selection.annotators)
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


# Choices -----------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A judge with a template version, and the number of its answers with human verdicts."""

    judge: int
    template: int
    answers: int


def pairs() -> list[Pair]:
    """Return judges and versions with human verdicts to compare, the most frequent first."""
    # Joined, so that the database starts from the few human evaluations.
    rows = Judgment.objects.filter(
        result__evaluations__criterion=F("criterion"),
        result__evaluations__kind__in=VERDICT_KINDS,
        judge__isnull=False,
        template__isnull=False,
    )
    counted = rows.order_by().values_list("judge", "template")
    found = [Pair(*row) for row in counted.annotate(n=Count("result", distinct=True))]
    return sorted(found, key=lambda pair: (-pair.answers, -pair.template, pair.judge))
