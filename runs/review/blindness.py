"""What a reviewer may not see yet, lest it lead them."""

from evalhub.models import User
from runs.models import HumanEvaluation
from runs.review.models import Assignment, AssignmentState, BlindMode, ReviewItem
from runs.review.reservations import KEPT


def is_hidden(assignment: Assignment) -> bool:
    """Whether judges' verdicts, score, reasons and others' evaluations are not to be shown now.

    Once somebody has given a verdict on the answer, be it one that was undone, they have seen
    those of the judges: what they say after that is not blind, and nothing is hidden.
    """
    if assignment.state == AssignmentState.SUBMITTED or not hides(
        assignment.queue.blind, assignment.item
    ):
        return False
    mine = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=assignment.annotator_id
    )
    return assignment.annotator_id is None or not mine.exists()


def hidden_for(annotator: User, result_id: int) -> Assignment | None:
    """The place at which this person reviews the result blind just now; None: they do not."""
    assignments = Assignment.objects.filter(
        annotator=annotator, item__result=result_id, state__in=KEPT
    )
    return next((p for p in assignments.select_related("queue", "item") if is_hidden(p)), None)


def hides(blind: str, item: ReviewItem) -> bool:
    """Whether a queue that is so blind hides the judges of this item, until it is reviewed."""
    return blind == BlindMode.ALL or (blind == BlindMode.RANDOM and item.is_random)
