"""Blind review: judgments are hidden so that they do not bias the reviewer."""

from evalhub.models import User
from runs.models import HumanEvaluation
from runs.review.models import Assignment, AssignmentState, BlindMode
from runs.review.reservations import KEPT


def is_hidden(assignment: Assignment) -> bool:
    """Tell whether judgments, score, reasons and others' evaluations are hidden now.

    A reviewer who has submitted a verdict on the answer, even an undone one, has seen the judges':
    later verdicts are not blind, so nothing is hidden.
    """
    blind = assignment.queue.blind
    hides = blind == BlindMode.ALL or (blind == BlindMode.RANDOM and assignment.item.is_random)
    if assignment.state == AssignmentState.SUBMITTED or not hides:
        return False
    mine = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=assignment.annotator_id
    )
    return assignment.annotator_id is None or not mine.exists()


def hidden_for(annotator: User, result_id: int) -> Assignment | None:
    """Return the assignment in which the annotator reviews this result blind; None: none."""
    assignments = Assignment.objects.filter(
        annotator=annotator, item__result=result_id, state__in=KEPT
    )
    return next((p for p in assignments.select_related("queue", "item") if is_hidden(p)), None)
