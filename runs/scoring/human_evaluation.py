"""Human evaluations: appended, never changed; the result is scored again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import ItemState, User
from issues.content.revisions import scale_of
from issues.models import FrozenCriterion
from issues.rubrics.scales import FIVE_CLASSES, Option, Scale
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import frozen_jury_of
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, JudgeRun, Result
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.adjudication import check_adjudicator
from runs.scoring.score import score_results

CHECKED = Scale(
    (
        Option("not shown", "The answer does not show this.", 0.0),
        Option("shown", "The answer shows this.", 1.0),
    )
)
"""The scale on which annotators evaluate a criterion with a check; accepts 0 and 1 too."""


class HumanVerdict(NamedTuple):
    """A verdict to record: the option's label and the reason.

    `criterion` is a key; "" for the test as a whole. An option of a criterion says how far the
    answer shows it, be that good or bad. `needs_reason`: refuse it without a justification.
    `replaces`: the id of somebody else's final decision that this one replaces on purpose.
    """

    option: str
    justification: str
    kind: EvaluationKind = EvaluationKind.EVALUATION
    chosen_by: ChosenBy = ChosenBy.DIRECT
    blind: bool = False
    seconds: int | None = None
    criterion: str = WHOLE_TEST
    needs_reason: bool = True
    replaces: int | None = None


@transaction.atomic
def evaluate(result: Result, human_verdict: HumanVerdict, *, by: User) -> HumanEvaluation:
    """Record a human evaluation of a result, or of one criterion, in place of the judges.

    Raises:
        ValidationError: The result has no answer, the criterion does not exist, the option is not
            on its scale, the reason is missing, or the annotator may not adjudicate this.
    """
    _check(result, human_verdict)
    criterion = _criterion(result, human_verdict.criterion)
    option = _option(scale_on(result, criterion), human_verdict.option)
    if human_verdict.kind == EvaluationKind.ADJUDICATION:
        check_adjudicator(result, criterion, by, human_verdict.replaces)
    evaluation = _recorded(result, human_verdict, criterion, option, by)
    score_results([result.pk])
    return evaluation


@transaction.atomic
def evaluate_each(
    result: Result,
    human_verdicts: Sequence[HumanVerdict],
    points: Mapping[str, "EvaluationPoint"],
    *,
    by: User,
) -> list[HumanEvaluation]:
    """Record human evaluations of several criteria of one result, and score it once.

    For adjudications, use `evaluate`.

    Args:
        points: As `evaluation_points_of` returns them for the result.

    Raises:
        ValidationError: As `evaluate`; then nothing is recorded.
    """
    evaluations = []
    for human_verdict in human_verdicts:
        _check(result, human_verdict)
        point = points.get(human_verdict.criterion) or _no_such(result, human_verdict.criterion)
        option = _option(point.scale, human_verdict.option)
        evaluations.append(_recorded(result, human_verdict, point.criterion, option, by))
    score_results([result.pk])
    return evaluations


def _recorded(
    result: Result,
    human_verdict: HumanVerdict,
    criterion: FrozenCriterion,
    option: Option,
    by: User,
) -> HumanEvaluation:
    return HumanEvaluation.objects.create(
        result=result,
        criterion=criterion,
        annotator=by,
        kind=human_verdict.kind,
        value=option.value,
        option=option.label,
        justification=human_verdict.justification.strip(),
        blind=human_verdict.blind,
        chosen_by=human_verdict.chosen_by,
        seconds=human_verdict.seconds,
    )


def _check(result: Result, human_verdict: HumanVerdict) -> None:
    if result.state != ItemState.DONE:
        yet = " yet" if result.state == ItemState.PENDING else ""
        raise ValidationError(f"{result} has no answer{yet}: evaluate results with an answer.")
    if human_verdict.kind == EvaluationKind.WITHDRAWAL:
        raise ValidationError("A withdrawal has no option: use the withdraw action.")
    if human_verdict.needs_reason and not human_verdict.justification.strip():
        raise ValidationError({"justification": "Enter a reason."})


def _criterion(result: Result, key: str) -> FrozenCriterion:
    found = FrozenCriterion.objects.filter(revision=result.revision_id, key=key).first()
    return found or _no_such(result, key)


def _no_such(result: Result, key: str) -> NoReturn:
    raise ValidationError({"criterion": f"The rubric of {result} has no criterion {key!r}."})


def _option(scale: Scale, label: str) -> Option:
    option = scale.option_of(label)
    if option is None:
        labels = ", ".join(option.label for option in scale.options)
        raise ValidationError({"option": f"{label!r} is not one of {labels}."})
    return option


# Scales ------------------------------------------------------------------------------------------


class EvaluationPoint(NamedTuple):
    """A criterion, or the test as a whole, with the scale on which annotators evaluate it."""

    criterion: FrozenCriterion
    scale: Scale


def evaluation_points_of(result: Result) -> dict[str, EvaluationPoint]:
    """Return the test as a whole and its criteria by key, in the rubric's order.

    The number of queries does not depend on the number of criteria.
    """
    points: dict[str, EvaluationPoint] = {}
    judged: Scale | None = None
    for row in FrozenCriterion.objects.filter(revision=result.revision_id).order_by("order", "pk"):
        scale = judged if judged and has_judges(row) else scale_on(result, row)
        judged = scale if has_judges(row) else judged
        points[row.key] = EvaluationPoint(row, scale)
    return points


def has_judges(criterion: FrozenCriterion) -> bool:
    """Tell whether judges are asked about it: a criterion of a rubric without a check."""
    return criterion.key != WHOLE_TEST and not criterion.check_name


def scale_on(result: Result, criterion: FrozenCriterion) -> Scale:
    """Return the scale on which annotators evaluate a criterion, or the test as a whole."""
    if criterion.key == WHOLE_TEST:
        return scale_of(result.revision.template)
    if criterion.check_name:
        return CHECKED
    return rubric_scale(JudgeRun.objects.filter(run=result.run_id, is_active=True).first())


def rubric_scale(judge_run: JudgeRun | None) -> Scale:
    """Return the scale on which the first judge of the jury judges criteria.

    The five classes if there is no such judge.
    """
    if judge_run is None or not judge_run.jury.get("judges"):
        return FIVE_CLASSES
    judges = frozen_jury_of(judge_run.jury).judges_asked(on_rubric=True)
    return next((judge.rubric.scale for judge in judges if judge.rubric), FIVE_CLASSES)


# Withdrawing -------------------------------------------------------------------------------------


@transaction.atomic
def withdraw(
    result: Result, *, by: User, reason: str = "", criterion: str = WHOLE_TEST
) -> HumanEvaluation:
    """Withdraw the annotator's last evaluation of the result, or of one criterion.

    Their evaluation before it becomes active again.

    Raises:
        ValidationError: They have no active evaluation, or the criterion does not exist.
    """
    about = _criterion(result, criterion)
    rows = HumanEvaluation.objects.filter(result=result, annotator=by, criterion=about)
    if not active_evaluations(rows.order_by("pk")):
        subject = "this criterion" if about.key else "this result"
        raise ValidationError(f"You have no evaluation of {subject} to withdraw.")
    withdrawal = HumanEvaluation.objects.create(
        result=result,
        criterion=about,
        annotator=by,
        kind=EvaluationKind.WITHDRAWAL,
        justification=reason,
    )
    score_results([result.pk])
    return withdrawal


def is_active(evaluation: HumanEvaluation) -> bool:
    """Tell whether an evaluation is neither withdrawn nor replaced."""
    return bool(active_among([evaluation]))


def active_among(evaluations: Sequence[HumanEvaluation]) -> set[int]:
    """Return the ids of the active ones among these, in one query."""
    about = {(row.result_id, row.criterion_id, row.annotator_id) for row in evaluations}
    rows = HumanEvaluation.objects.filter(result__in={result for result, _, _ in about})
    grouped: dict[tuple[int, int, int], list[HumanEvaluation]] = defaultdict(list)
    for row in rows.order_by("pk"):
        grouped[row.result_id, row.criterion_id, row.annotator_id].append(row)
    left = {row.pk for key in about for row in active_evaluations(grouped[key])}
    return left & {row.pk for row in evaluations}


class BulkResult(NamedTuple):
    """The evaluations recorded, and the problems with the other results."""

    done: list[HumanEvaluation]
    problems: list[str]


def evaluate_bulk(
    results: Sequence[Result], human_verdict: HumanVerdict, *, by: User
) -> BulkResult:
    """Record the same verdict on each of these results, skipping those with problems."""
    outcomes = BulkResult([], [])
    for result in results:
        try:
            outcomes.done.append(evaluate(result, human_verdict, by=by))
        except ValidationError as error:
            outcomes.problems.append(f"{result}: {' '.join(error.messages)}")
    return outcomes
