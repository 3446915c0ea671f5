"""Answers with verdicts of both annotators and a judge."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from issues.models import FrozenCriterion, JudgeTemplate, Tag
from issues.rubrics.scales import from_json
from issues.rubrics.scoring import consensus
from runs.laboratory.tuning.metrics import Frozen, pass_line_of
from runs.laboratory.tuning.models import AnnotatorFilter
from runs.models import (
    HAS_ANSWER,
    EvaluationKind,
    HumanEvaluation,
    Judge,
    Judgment,
    Result,
    Suite,
    TagSet,
)
from runs.scoring.active_evaluation_rule import HumanScore, drawn_evaluations, human_score_of
from runs.scoring.score import evaluations_in

DISPUTED = "disputed"
SLICE = 1000
RESULT_FIELDS = (
    *("pk", "test_id", "revision__asked_digest"),
    *("revision__pass_threshold", "revision__pass_rule"),
)

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


class Judged(NamedTuple):
    """The judge's value in its newest judge run of a result; None without a verdict."""

    judge_run: int
    value: float | None


def labelled_answers_of(selection: Selection) -> LabelledAnswers:
    """Read comparable answers, in a fixed number of queries per slice of results."""
    scale = from_json(selection.template.scale)
    found = LabelledAnswers([])
    for row, criterion, human, (judge_run, judge_value) in _compared(selection):
        threshold, rule = row["revision__pass_threshold"], row["revision__pass_rule"]
        frozen = Frozen(criterion.key, criterion.is_inverted, threshold, rule)
        line = pass_line_of(frozen, scale, scale)
        sides = {line.passed(value) for value in human.values}
        if len(sides) > 1:
            found.left_out[DISPUTED] += 1
            continue
        found.labelled.append(
            LabelledAnswer(
                result=row["pk"],
                criterion=criterion.pk,
                judge_run=judge_run,
                test=row["test_id"],
                asked=row["revision__asked_digest"],
                value=human.score,
                passed=bool(sides.pop()),
                judge_value=judge_value,
                judge_passed=line.passed(judge_value),
            )
        )
    return found


def _compared(
    selection: Selection,
) -> Iterator[tuple[dict[str, Any], FrozenCriterion, HumanScore, Judged]]:
    """Yield results and criteria with both verdicts, a slice of results at a time."""
    evaluations = evaluations_in(evaluations_of(selection))
    is_random = selection.annotators == AnnotatorFilter.RANDOM
    ids = sorted(evaluations)
    for start in range(0, len(ids), SLICE):
        some = ids[start : start + SLICE]
        judged = _judged(selection, some)
        criteria = FrozenCriterion.objects.only("key", "polarity").in_bulk(
            {pk for result in some for pk in evaluations[result]}
        )
        rows = Result.objects.filter(HAS_ANSWER, pk__in=some).order_by("pk").values(*RESULT_FIELDS)
        for row in rows:
            for pk, given in sorted(evaluations[row["pk"]].items()):
                human = human_score_of(drawn_evaluations(given) if is_random else given)
                if human and (row["pk"], pk) in judged:
                    yield row, criteria[pk], human, judged[row["pk"], pk]


def evaluations_of(selection: Selection) -> QuerySet[HumanEvaluation]:
    """Return all human evaluations, withdrawals included, of answers judged by this selection."""
    asked = Judgment.objects.filter(
        judge=selection.judge,
        template=selection.template,
        result=OuterRef("result"),
        criterion=OuterRef("criterion"),
        taken_from=None,
    )
    rows = HumanEvaluation.objects.filter(Exists(asked))
    if selection.suite:
        rows = rows.filter(result__run__suite=selection.suite)
    if selection.tag:
        tag_sets = TagSet.objects.values_list("pk", "names")
        tagged = [pk for pk, names in tag_sets if selection.tag.name in names]
        rows = rows.filter(result__tag_set__in=tagged)
    return rows


def _judged(selection: Selection, results: Sequence[int]) -> dict[CriterionPosition, Judged]:
    rows = Judgment.objects.filter(
        judge=selection.judge, template=selection.template, result__in=results, taken_from=None
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


class Pair(NamedTuple):
    """A judge with a template version, and the number of its answers with human verdicts."""

    judge: int
    template: int
    answers: int

    @property
    def key(self) -> str:
        return f"{self.judge}-{self.template}"


def pairs() -> list[Pair]:
    """Return judges and versions with human verdicts to compare, the most frequent first."""
    # Joined, so that the database starts from the few human evaluations.
    rows = Judgment.objects.filter(
        result__evaluations__criterion=F("criterion"),
        result__evaluations__kind__in=(EvaluationKind.EVALUATION, EvaluationKind.ADJUDICATION),
        judge__isnull=False,
        template__isnull=False,
        taken_from=None,
    )
    counted = rows.order_by().values_list("judge", "template")
    found = [Pair(*row) for row in counted.annotate(n=Count("result", distinct=True))]
    return sorted(found, key=lambda pair: (-pair.answers, -pair.template, pair.judge))
