"""The assignment and the human evaluations of a review."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation
from runs.review.models import Assignment, AssignmentState, QueueState
from runs.review.pair_items import record_choice, withdraw_choice
from runs.review.requirements import Requirements
from runs.review.reservations import KEPT
from runs.review.submission import ReviewSubmission, too_long
from runs.scoring.active_evaluations import active_evaluations, withdrawn
from runs.scoring.human_evaluation import HumanVerdict, evaluate_each, is_active, withdraw

LOST = "lost"
"""Error code: somebody else has the assignment."""
ANSWERED = "answered"
"""Error code: the reviewer has submitted another verdict on the item."""
EXPIRED = "Your reservation expired and somebody took this item."


def locked(assignment: Assignment) -> Assignment:
    """Lock and read the assignment with its queue and result."""
    rows = Assignment.objects.select_related(
        *("queue", "annotator", "item__result__run", "item__result__revision__template"),
        *("item__other", "pair_evaluation__pair"),
    )
    found: Assignment = rows.select_for_update(of=("self",)).get(pk=assignment.pk)
    return found


def check_open(assignment: Assignment) -> None:
    """Refuse changes in a closed queue.

    Raises:
        ValidationError: The queue is closed.
    """
    if assignment.queue.state != QueueState.OPEN:
        raise ValidationError(f"{assignment.queue} is closed: ask a maintainer to reopen it.")


def check_holder(assignment: Assignment, by: User) -> None:
    """Refuse others than the assignment's reviewer, whose reservation may have expired.

    Raises:
        ValidationError: It belongs to somebody else, or nobody (code "lost").
    """
    if assignment.state in KEPT and assignment.annotator_id == by.pk:
        return
    raise ValidationError(
        "You released this item: open it again to review it."
        if assignment.state == AssignmentState.OPEN or assignment.annotator_id == by.pk
        else EXPIRED,
        code=LOST,
    )


def check_lengths(texts: Mapping[str, str]) -> None:
    if problems := too_long(texts):
        raise ValidationError(problems)


def record_evaluations(
    assignment: Assignment, submission: ReviewSubmission, requirements: Requirements, by: User
) -> list[HumanEvaluation]:
    """Record the evaluations, and withdraw earlier ones that they do not replace."""
    if assignment.item.other_id:
        assignment.pair_evaluation = record_choice(assignment, submission, by)
        return []
    result = assignment.item.result
    given = {verdict.criterion for verdict in submission.verdicts}
    before = assignment.evaluations.select_related("criterion").exclude(criterion__key__in=given)
    for evaluation in before:
        if is_active(evaluation):
            withdraw(result, by=by, reason="Reviewed again.", criterion=evaluation.criterion.key)
    # An active verdict on the whole would outrank those on criteria.
    while WHOLE_TEST not in given and _has_whole(assignment, by):
        withdraw(result, by=by, reason="Reviewed by criterion.")
    is_random = assignment.item.is_random
    human_verdicts = [
        HumanVerdict(
            verdict.option,
            verdict.justification,
            chosen_by=ChosenBy.QUEUE_RANDOM if is_random else ChosenBy.QUEUE_SELECTED,
            blind=requirements.is_hidden,
            seconds=submission.seconds,
            criterion=verdict.criterion,
            needs_reason=False,
        )
        for verdict in submission.verdicts
    ]
    evaluations = evaluate_each(result, human_verdicts, requirements.points, by=by)
    result.refresh_from_db(fields=("score", "passed", "is_overridden", "is_disputed", "is_judged"))
    return evaluations


def _has_whole(assignment: Assignment, by: User) -> bool:
    rows = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=by, criterion__key=WHOLE_TEST
    )
    active = active_evaluations(rows.order_by("pk"))
    return any(row.kind == EvaluationKind.EVALUATION for row in active)


def withdraw_of(assignment: Assignment, by: User, reason: str) -> None:
    """Withdraw the active evaluations of an assignment.

    Raises:
        ValidationError: A later evaluation, made on the result page, replaced one of them.
    """
    if assignment.item.other_id:
        withdraw_choice(assignment, by)
        return
    result = assignment.item.result
    for evaluation in assignment.evaluations.select_related("criterion").order_by("pk"):
        about = evaluation.criterion
        mine = HumanEvaluation.objects.filter(
            result=result, criterion=about, annotator=evaluation.annotator_id
        ).order_by("pk")
        if evaluation in active_evaluations(mine):
            withdraw(result, by=by, reason=reason, criterion=about.key)
        elif evaluation not in withdrawn(mine):
            raise ValidationError(
                "You have evaluated this result again on its own page: withdraw that evaluation "
                "first."
            )
