"""People's verdicts: they are appended, never changed, and the result is scored again."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import ItemState, User
from issues.freezing import scale_of
from issues.models import FrozenCriterion
from issues.rubric import WHOLE_TEST
from issues.scales import FIVE_CLASSES, Option, Scale
from runs.differing import Dispute, dispute_over, dispute_over_result
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Judging, Result
from runs.scoring import score_results
from runs.seats import panel_of
from runs.standing import standing

CHECKED = Scale(
    (
        Option("not shown", "The answer does not show this.", 0.0),
        Option("shown", "The answer shows this.", 1.0),
    )
)
"""What a person says of a criterion that a check decides; 0 and 1 are understood too."""

ONE_OF_THEM = (
    "You are one of those whose verdicts differ: somebody else has to settle it. Withdraw yours, "
    "or change it, if you no longer hold it."
)


class Ballot(NamedTuple):
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
def evaluate(result: Result, ballot: Ballot, *, by: User) -> HumanEvaluation:
    """Record a person's verdict on a result, or one criterion of it; it replaces the judges'.

    Raises:
        ValidationError: There is no answer to evaluate, no such criterion, the option is not on
            its scale, no reason is given, or it is an adjudication that this person cannot make.
    """
    _check(result, ballot)
    criterion = _criterion(result, ballot.criterion)
    option = _option(scale_on(result, criterion), ballot.option)
    if ballot.kind == EvaluationKind.ADJUDICATION:
        _check_adjudicator(result, criterion, by)
    evaluation = _recorded(result, ballot, criterion, option, by)
    score_results([result.pk])
    return evaluation


@transaction.atomic
def evaluate_each(
    result: Result, ballots: Sequence[Ballot], questions: Mapping[str, "Question"], *, by: User
) -> list[HumanEvaluation]:
    """Record a person's verdicts on several criteria of one result, and score it once.

    Adjudications are made one by one, by `evaluate`.

    Args:
        questions: What `questions_on` gives for the result.

    Raises:
        ValidationError: As `evaluate`; nothing is recorded then.
    """
    evaluations = []
    for ballot in ballots:
        _check(result, ballot)
        question = questions.get(ballot.criterion) or _no_such(result, ballot.criterion)
        option = _option(question.scale, ballot.option)
        evaluations.append(_recorded(result, ballot, question.criterion, option, by))
    score_results([result.pk])
    return evaluations


def _recorded(
    result: Result, ballot: Ballot, criterion: FrozenCriterion, option: Option, by: User
) -> HumanEvaluation:
    return HumanEvaluation.objects.create(
        result=result,
        criterion=criterion,
        annotator=by,
        kind=ballot.kind,
        value=option.value,
        option=option.label,
        justification=ballot.justification.strip(),
        blind=ballot.blind,
        chosen_by=ballot.chosen_by,
        seconds=ballot.seconds,
    )


def _check(result: Result, ballot: Ballot) -> None:
    if result.state != ItemState.DONE:
        yet = " yet" if result.state == ItemState.PENDING else ""
        raise ValidationError(f"{result} has no answer{yet}, so there is nothing to evaluate.")
    if ballot.kind == EvaluationKind.WITHDRAWAL:
        raise ValidationError("A withdrawal has no option: use `withdraw`.")
    if ballot.needs_reason and not ballot.justification.strip():
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
        raise ValidationError(ONE_OF_THEM)


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


class Question(NamedTuple):
    """What a person may decide on, and on which scale."""

    criterion: FrozenCriterion
    scale: Scale


def questions_on(result: Result) -> dict[str, Question]:
    """By key, the test as a whole and each criterion of its rubric, in the rubric's order.

    The number of queries is the same for any number of criteria.
    """
    rows = FrozenCriterion.objects.filter(revision=result.revision_id).order_by("order", "pk")
    criteria = list(rows)
    judged = [criterion for criterion in criteria if is_judged(criterion)]
    scales = dict.fromkeys(judged, scale_on(result, judged[0])) if judged else {}
    return {
        criterion.key: Question(criterion, scales.get(criterion) or scale_on(result, criterion))
        for criterion in criteria
    }


def is_judged(criterion: FrozenCriterion) -> bool:
    """Whether it is a criterion of a rubric that judges are asked about: no check decides it."""
    return criterion.key != WHOLE_TEST and not criterion.check_name


def scale_on(result: Result, criterion: FrozenCriterion) -> Scale:
    """The scale on which a person judges a criterion, or the test as a whole."""
    if criterion.key == WHOLE_TEST:
        return scale_of(result.revision.template)
    if criterion.check_name:
        return CHECKED
    return rubric_scale(Judging.objects.filter(run=result.run_id, is_current=True).first())


def rubric_scale(judging: Judging | None) -> Scale:
    """The scale of the wording with which judges are asked about a criterion.

    That of the first judge of the jury, should they differ; the five classes where none is asked.
    """
    if judging is None or not judging.jury.get("judges"):
        return FIVE_CLASSES
    seats = panel_of(judging).sitting(on_rubric=True)
    return next((seat.rubric.scale for seat in seats if seat.rubric), FIVE_CLASSES)


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
    if not standing(rows.order_by("pk")):
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


def stands(evaluation: HumanEvaluation) -> bool:
    """Whether it is what its annotator says now: neither withdrawn nor replaced."""
    mine = HumanEvaluation.objects.filter(
        result=evaluation.result_id,
        criterion=evaluation.criterion_id,
        annotator=evaluation.annotator_id,
    )
    return evaluation in standing(mine.order_by("pk"))


class Outcomes(NamedTuple):
    """What came of evaluating several results: those done, and why the others were not."""

    done: list[HumanEvaluation]
    problems: list[str]


def evaluate_many(results: Sequence[Result], ballot: Ballot, *, by: User) -> Outcomes:
    """Record the same verdict on each of these results; one that cannot be does not stop others."""
    outcomes = Outcomes([], [])
    for result in results:
        try:
            outcomes.done.append(evaluate(result, ballot, by=by))
        except ValidationError as error:
            outcomes.problems.append(f"{result}: {' '.join(error.messages)}")
    return outcomes
