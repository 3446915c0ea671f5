"""A review's rows: its place, the evaluations and the correction that are made of it."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Result
from runs.review.corrections import correct
from runs.review.models import Assignment, AssignmentState, Correction, QueueState
from runs.review.requirements import Requirements
from runs.review.reservations import KEPT
from runs.review.submission import MOST_TEXT, ReviewSubmission, Verdict
from runs.scoring.active_evaluations import active_evaluations, withdrawn
from runs.scoring.human_evaluation import HumanVerdict, evaluate_each, is_active, withdraw

LOST = "lost"
"""Error code: somebody else has the assignment."""
LONGEST_S = 24 * 3600
SCORED = ("score", "passed", "is_overridden", "is_disputed", "is_judged")


def locked(assignment: Assignment) -> Assignment:
    """Lock and read the assignment with its queue and result."""
    rows = Assignment.objects.select_related(
        "queue", "annotator", "item__result__run", "item__result__revision__template"
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
        else "Your reservation expired and somebody took this item.",
        code=LOST,
    )


def check_lengths(draft: Mapping[str, Any]) -> None:
    problems = {
        name: f"{len(text):,} characters are too long: write at most {MOST_TEXT:,}."
        for name, text in draft.items()
        if isinstance(text, str) and len(text) > MOST_TEXT
    }
    if problems:
        raise ValidationError(problems)


# Recording ---------------------------------------------------------------------------------------


def recorded(
    assignment: Assignment, submission: ReviewSubmission, requirements: Requirements, by: User
) -> list[HumanEvaluation]:
    """Record the evaluations, and withdraw earlier ones that they do not replace."""
    result = assignment.item.result
    human_verdicts = [
        _human_verdict(verdict, assignment, submission, requirements)
        for verdict in submission.verdicts
    ]
    _withdraw_others(assignment, {verdict.criterion for verdict in submission.verdicts}, by)
    evaluations = evaluate_each(result, human_verdicts, requirements.questions, by=by)
    result.refresh_from_db(fields=SCORED)
    return evaluations


def _human_verdict(
    verdict: Verdict,
    assignment: Assignment,
    submission: ReviewSubmission,
    requirements: Requirements,
) -> HumanVerdict:
    at_random = assignment.item.is_random
    return HumanVerdict(
        verdict.option,
        verdict.justification,
        chosen_by=ChosenBy.QUEUE_RANDOM if at_random else ChosenBy.QUEUE_SELECTED,
        blind=requirements.is_hidden,
        seconds=seconds_of(submission),
        criterion=verdict.criterion,
        needs_reason=False,
    )


def seconds_of(submission: ReviewSubmission) -> int | None:
    return None if submission.seconds is None else min(max(submission.seconds, 0), LONGEST_S)


def _withdraw_others(assignment: Assignment, given: set[str], by: User) -> None:
    """Withdraw the reviewer's earlier evaluations that would outrank or outlive the new ones."""
    before = assignment.evaluations.select_related("criterion").exclude(criterion__key__in=given)
    for evaluation in before:
        if is_active(evaluation):
            _undo_evaluation(
                assignment.item.result, evaluation.criterion.key, by, "Reviewed again."
            )
    while WHOLE_TEST not in given and _has_whole(assignment.item.result, by):
        _undo_evaluation(assignment.item.result, WHOLE_TEST, by, "Reviewed by criterion.")


def _has_whole(result: Result, by: User) -> bool:
    """Tell whether the reviewer has an active verdict on the whole, which outranks criteria."""
    rows = HumanEvaluation.objects.filter(result=result, annotator=by, criterion__key=WHOLE_TEST)
    return any(
        row.kind == EvaluationKind.EVALUATION for row in active_evaluations(rows.order_by("pk"))
    )


def _undo_evaluation(result: Result, key: str, by: User, reason: str) -> None:
    withdraw(result, by=by, reason=reason, criterion=key)


def keep_correction(result: Result, text: str, by: User) -> None:
    if text.strip():
        correction = correct(result, text, by=by)
        Correction.objects.filter(pk=correction.pk).update(undone_at=None)


# Withdrawing -------------------------------------------------------------------------------------


def withdraw_of(assignment: Assignment, by: User, reason: str) -> None:
    """Withdraw the active evaluations of an assignment.

    Raises:
        ValidationError: A later evaluation, made on the result page, replaced one of them.
    """
    for evaluation in assignment.evaluations.select_related("criterion").order_by("pk"):
        if is_active(evaluation):
            withdraw(
                assignment.item.result, by=by, reason=reason, criterion=evaluation.criterion.key
            )
        elif not _is_withdrawn(evaluation):
            raise ValidationError(
                "You have evaluated this result again on its own page: withdraw that evaluation "
                "first."
            )


def _is_withdrawn(evaluation: HumanEvaluation) -> bool:
    rows = HumanEvaluation.objects.filter(
        result=evaluation.result_id,
        criterion=evaluation.criterion_id,
        annotator=evaluation.annotator_id,
    )
    return evaluation in withdrawn(rows.order_by("pk"))
