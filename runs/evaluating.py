"""People's verdicts: they are appended, never changed, and the result is scored again."""

from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import ItemState, User
from issues.freezing import scale_of
from issues.models import FrozenCriterion
from issues.rubric import WHOLE_TEST
from issues.scales import Option
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Result
from runs.scoring import score_results
from runs.standing import standing


class Ballot(NamedTuple):
    """What a person decides on a result: the option's label, and why."""

    option: str
    justification: str
    kind: EvaluationKind = EvaluationKind.EVALUATION
    chosen_by: ChosenBy = ChosenBy.DIRECT
    blind: bool = False
    seconds: int | None = None


@transaction.atomic
def evaluate(result: Result, ballot: Ballot, *, by: User) -> HumanEvaluation:
    """Record a person's verdict on a result as a whole; it replaces the judges'.

    Raises:
        ValidationError: There is no answer to evaluate, the option is not on the test's scale, or
            no reason is given.
    """
    option = _option(result, ballot)
    evaluation = HumanEvaluation.objects.create(
        result=result,
        criterion=FrozenCriterion.objects.get(revision=result.revision_id, key=WHOLE_TEST),
        annotator=by,
        kind=ballot.kind,
        value=option.value,
        option=option.label,
        justification=ballot.justification.strip(),
        blind=ballot.blind,
        chosen_by=ballot.chosen_by,
        seconds=ballot.seconds,
    )
    score_results([result.pk])
    return evaluation


def _option(result: Result, ballot: Ballot) -> Option:
    if result.state != ItemState.DONE:
        yet = " yet" if result.state == ItemState.PENDING else ""
        raise ValidationError(f"{result} has no answer{yet}, so there is nothing to evaluate.")
    if ballot.kind == EvaluationKind.WITHDRAWAL:
        raise ValidationError("A withdrawal has no option: use `withdraw`.")
    if not ballot.justification.strip():
        raise ValidationError({"justification": "Say in a sentence why."})
    scale = scale_of(result.revision.template)
    option = scale.option_of(ballot.option)
    if option is None:
        labels = ", ".join(option.label for option in scale.options)
        raise ValidationError({"option": f"{ballot.option!r} is not one of {labels}."})
    return option


@transaction.atomic
def withdraw(result: Result, *, by: User, reason: str = "") -> HumanEvaluation:
    """Undo this person's last evaluation of the result; what stood before stands again.

    Raises:
        ValidationError: Nothing of this person's stands.
    """
    rows = HumanEvaluation.objects.filter(result=result, annotator=by, criterion__key=WHOLE_TEST)
    if not standing(rows.order_by("pk")):
        raise ValidationError("You have no evaluation of this result that could be undone.")
    withdrawal = HumanEvaluation.objects.create(
        result=result,
        criterion=FrozenCriterion.objects.get(revision=result.revision_id, key=WHOLE_TEST),
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
