"""People's verdicts: they are appended, never changed, and the result is scored again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import ItemState, User
from issues.models import FrozenCriterion
from issues.revisions import scale_of
from issues.rubrics.scales import FIVE_CLASSES, Option, Scale
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import frozen_jury_of
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, JudgeRun, Result
from runs.scoring.active_evaluations import active_evaluations
from runs.scoring.disputes import Dispute, dispute_over, dispute_over_result
from runs.scoring.score import score_results

CHECKED = Scale(
    (
        Option("not shown", "The answer does not show this.", 0.0),
        Option("shown", "The answer shows this.", 1.0),
    )
)
"""What a person says of a criterion that a check decides; 0 and 1 are understood too."""

ADJUDICATOR_IS_PARTY = (
    "You are one of those whose verdicts differ: somebody else has to settle it. Withdraw yours, "
    "or change it, if you no longer hold it."
)


class HumanVerdict(NamedTuple):
    """What a person decides on a result: the option's label, and why.

    `criterion` is the key of the criterion that it is about; "": the test as a whole. An option
    of a criterion says how far the answer shows it, be that good or bad. `needs_reason`: it is
    refused without a justification.
    """

    option: str
    justification: str
    kind: EvaluationKind = EvaluationKind.EVALUATION
    chosen_by: ChosenBy = ChosenBy.DIRECT
    blind: bool = False
    seconds: int | None = None
    criterion: str = WHOLE_TEST
    needs_reason: bool = True


@transaction.atomic
def evaluate(result: Result, human_verdict: HumanVerdict, *, by: User) -> HumanEvaluation:
    """Record a person's verdict on a result, or one criterion of it; it replaces the judges'.

    Raises:
        ValidationError: There is no answer to evaluate, no such criterion, the option is not on
            its scale, no reason is given, or it is an adjudication that this person cannot make.
    """
    _check(result, human_verdict)
    criterion = _criterion(result, human_verdict.criterion)
    option = _option(scale_on(result, criterion), human_verdict.option)
    if human_verdict.kind == EvaluationKind.ADJUDICATION:
        _check_adjudicator(result, criterion, by)
    evaluation = _recorded(result, human_verdict, criterion, option, by)
    score_results([result.pk])
    return evaluation


@transaction.atomic
def evaluate_each(
    result: Result,
    human_verdicts: Sequence[HumanVerdict],
    questions: Mapping[str, "EvaluationPoint"],
    *,
    by: User,
) -> list[HumanEvaluation]:
    """Record a person's verdicts on several criteria of one result, and score it once.

    Adjudications are made one by one, by `evaluate`.

    Args:
        questions: What `evaluation_points_of` gives for the result.

    Raises:
        ValidationError: As `evaluate`; nothing is recorded then.
    """
    evaluations = []
    for human_verdict in human_verdicts:
        _check(result, human_verdict)
        question = questions.get(human_verdict.criterion) or _no_such(
            result, human_verdict.criterion
        )
        option = _option(question.scale, human_verdict.option)
        evaluations.append(_recorded(result, human_verdict, question.criterion, option, by))
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
        raise ValidationError(f"{result} has no answer{yet}, so there is nothing to evaluate.")
    if human_verdict.kind == EvaluationKind.WITHDRAWAL:
        raise ValidationError("A withdrawal has no option: use `withdraw`.")
    if human_verdict.needs_reason and not human_verdict.justification.strip():
        raise ValidationError({"justification": "Say in a sentence why."})


def _check_adjudicator(result: Result, criterion: FrozenCriterion, by: User) -> None:
    """Who is one of those that differ cannot settle it, nor is there anything to settle else."""
    dispute = dispute_of(result, criterion)
    if dispute is None:
        about = "this criterion" if criterion.key else "this result"
        raise ValidationError(
            f"There is nothing to settle: no two people's verdicts on {about} differ. Give yours "
            "without settling it."
        )
    if by.pk in dispute.parties:
        raise ValidationError(ADJUDICATOR_IS_PARTY)


def dispute_of(result: Result, criterion: FrozenCriterion) -> Dispute | None:
    """The dispute over what the result comes to, or over one criterion; None: nobody differs."""
    rows = HumanEvaluation.objects.filter(result=result).order_by("pk")
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in rows:
        about[row.criterion_id].append(row)
    mine = about.pop(criterion.pk, [])
    return dispute_over(mine) if criterion.key else dispute_over_result(mine, about)


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


# On which scale ----------------------------------------------------------------------------------


class EvaluationPoint(NamedTuple):
    """What a person may decide on, and on which scale."""

    criterion: FrozenCriterion
    scale: Scale


def evaluation_points_of(result: Result) -> dict[str, EvaluationPoint]:
    """By key, the test as a whole and each criterion of its rubric, in the rubric's order.

    The number of queries is the same for any number of criteria.
    """
    rows = FrozenCriterion.objects.filter(revision=result.revision_id).order_by("order", "pk")
    criteria = list(rows)
    judged = [criterion for criterion in criteria if has_judges(criterion)]
    scales = dict.fromkeys(judged, scale_on(result, judged[0])) if judged else {}
    return {
        criterion.key: EvaluationPoint(
            criterion, scales.get(criterion) or scale_on(result, criterion)
        )
        for criterion in criteria
    }


def has_judges(criterion: FrozenCriterion) -> bool:
    """Whether it is a criterion of a rubric that judges are asked about: no check decides it."""
    return criterion.key != WHOLE_TEST and not criterion.check_name


def scale_on(result: Result, criterion: FrozenCriterion) -> Scale:
    """The scale on which a person judges a criterion, or the test as a whole."""
    if criterion.key == WHOLE_TEST:
        return scale_of(result.revision.template)
    if criterion.check_name:
        return CHECKED
    return rubric_scale(JudgeRun.objects.filter(run=result.run_id, is_active=True).first())


def rubric_scale(judge_run: JudgeRun | None) -> Scale:
    """The scale of the wording with which judges are asked about a criterion.

    That of the first judge of the jury, should they differ; the five classes where none is asked.
    """
    if judge_run is None or not judge_run.jury.get("judges"):
        return FIVE_CLASSES
    frozen_judges = frozen_jury_of(judge_run).judges_asked(on_rubric=True)
    return next(
        (frozen_judge.rubric.scale for frozen_judge in frozen_judges if frozen_judge.rubric),
        FIVE_CLASSES,
    )


# Taking back -------------------------------------------------------------------------------------


@transaction.atomic
def withdraw(
    result: Result, *, by: User, reason: str = "", criterion: str = WHOLE_TEST
) -> HumanEvaluation:
    """Undo this person's last evaluation of the result as a whole, or of the criterion's key.

    What stood before stands again.

    Raises:
        ValidationError: Nothing of this person's stands, or there is no such criterion.
    """
    about = _criterion(result, criterion)
    rows = HumanEvaluation.objects.filter(result=result, annotator=by, criterion=about)
    if not active_evaluations(rows.order_by("pk")):
        what = "this criterion" if about.key else "this result"
        raise ValidationError(f"You have no evaluation of {what} that could be undone.")
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
    """Whether it is what its annotator says now: neither withdrawn nor replaced."""
    mine = HumanEvaluation.objects.filter(
        result=evaluation.result_id,
        criterion=evaluation.criterion_id,
        annotator=evaluation.annotator_id,
    )
    return evaluation in active_evaluations(mine.order_by("pk"))


class BulkResult(NamedTuple):
    """What came of evaluating several results: those done, and why the others were not."""

    done: list[HumanEvaluation]
    problems: list[str]


def evaluate_bulk(
    results: Sequence[Result], human_verdict: HumanVerdict, *, by: User
) -> BulkResult:
    """Record the same verdict on each of these results; one that cannot be does not stop others."""
    outcomes = BulkResult([], [])
    for result in results:
        try:
            outcomes.done.append(evaluate(result, human_verdict, by=by))
        except ValidationError as error:
            outcomes.problems.append(f"{result}: {' '.join(error.messages)}")
    return outcomes
