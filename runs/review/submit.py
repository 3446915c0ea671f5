"""Submit, undo and send back reviews. Everything stays in the history."""

from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.work import clock
from runs.review.corrections import correct
from runs.review.models import Assignment, AssignmentState, Correction, Queue, QueueState
from runs.review.notifications import notify_sent_back
from runs.review.requirements import requirements_for
from runs.review.reservations import KEPT, release, remember, until
from runs.review.review_records import (
    ANSWERED,
    check_holder,
    check_lengths,
    check_open,
    locked,
    record_evaluations,
    withdraw_of,
)
from runs.review.skips import last_skip, restore
from runs.review.submission import ReviewSubmission, as_draft, has_input, is_same


class Submitted(NamedTuple):
    """A submitted assignment. `agrees` with the judges; None: they gave no verdict.

    `is_new` False: the same had been submitted before, so nothing was changed.
    """

    assignment: Assignment
    agrees: bool | None
    is_new: bool = True


@transaction.atomic
def submit(
    assignment: Assignment, submission: ReviewSubmission, *, by: User, replaces: bool = False
) -> Submitted:
    """Record the verdicts of a review, and mark the assignment as submitted.

    Repeating a submission does nothing. Another one `replaces` the first only if that is asked for.

    Raises:
        ValidationError: By field; or somebody else has the assignment (code "lost"); or the
            reviewer has submitted another verdict (code "answered"), which stays.
    """
    assignment = locked(assignment)
    is_repeated = False
    if assignment.state == AssignmentState.SUBMITTED and assignment.annotator_id == by.pk:
        is_repeated = is_same(submission, assignment.draft)
        if not is_repeated and not replaces:
            raise ValidationError(
                "You submitted another verdict on this item before: undo that one first.",
                code=ANSWERED,
            )
        if not is_repeated:
            assignment = reopen(assignment, by=by)
    requirements = requirements_for(assignment)
    agrees = requirements.agrees(submission)
    if is_repeated:
        return Submitted(assignment, agrees, is_new=False)
    check_open(assignment)
    check_holder(assignment, by)
    requirements.check(submission)
    evaluations = record_evaluations(assignment, submission, requirements, by)
    if submission.correction.strip() and not assignment.item.other_id:
        correct(assignment.item.result, submission.correction, by=by)
    assignment.state, assignment.reserved_until = AssignmentState.SUBMITTED, None
    assignment.submitted_at = clock.now()
    assignment.seconds, assignment.note = submission.seconds, submission.note.strip()
    assignment.draft = as_draft(submission)
    assignment.save()
    assignment.evaluations.set(evaluations)
    return Submitted(assignment, agrees)


# Drafts ------------------------------------------------------------------------------------------


def save_draft(assignment: Assignment, draft: dict[str, str], *, by: User) -> bool:
    """Save the draft and extend the reservation; False if somebody else has the assignment.

    Raises:
        ValidationError: A text is too long.
    """
    check_lengths(draft)
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state__in=KEPT)
    if not mine.update(draft=draft):
        return False
    if assignment.queue.state == QueueState.OPEN:
        ahead = until(assignment.queue, clock.now())
        mine.filter(state=AssignmentState.RESERVED).update(reserved_until=ahead)
    return True


# Undoing -----------------------------------------------------------------------------------------


@transaction.atomic
def reopen(assignment: Assignment, *, by: User) -> Assignment:
    """Undo one's own submission: withdraw its evaluations and restore the draft.

    Raises:
        ValidationError: The user has not submitted it, the queue is closed, or they have evaluated
            the result again since.
    """
    assignment = locked(assignment)
    if assignment.state != AssignmentState.SUBMITTED or assignment.annotator_id != by.pk:
        raise ValidationError("You have not submitted this item, so there is nothing to undo.")
    check_open(assignment)
    now = clock.now()
    withdraw_of(assignment, by, "Undone.")
    text = assignment.draft.get("correction", "").strip()
    mine = Correction.objects.filter(result=assignment.item.result_id, annotator=by, text=text)
    mine.filter(promoted_at=None, undone_at=None).update(undone_at=now)
    remember(assignment, "undone", by, now, note=assignment.note)
    assignment.submitted_at = None
    if assignment.sent_back_note:
        assignment.state = AssignmentState.SENT_BACK
    else:
        assignment.state = AssignmentState.RESERVED
        assignment.reserved_until = until(assignment.queue, now)
    assignment.save()
    assignment.evaluations.clear()
    return assignment


def undo(queue: Queue, *, by: User) -> Assignment | None:
    """Undo the reviewer's last submission or skip in the queue; None if there is none.

    They have the assignment again, with its draft. Assignments reserved for them since, without
    input, are released.

    Raises:
        ValidationError: See `reopen`.
        NoAssignment: See `restore`.
    """
    mine = Assignment.objects.filter(queue=queue, annotator=by, state=AssignmentState.SUBMITTED)
    assignment = mine.order_by("-submitted_at", "-pk").first()
    skipped = last_skip(queue, by)
    if skipped is not None and (
        assignment is None
        or assignment.submitted_at is None
        or skipped.created_at > assignment.submitted_at
    ):
        back = restore(skipped, by)
    elif assignment is not None:
        back = reopen(assignment, by=by)
    else:
        return None
    rows = Assignment.objects.filter(queue=queue, annotator=by, state=AssignmentState.RESERVED)
    for other in rows.exclude(pk=back.pk):
        if not has_input(other.draft):
            release(other, by=by)
    return back


# Sending back ------------------------------------------------------------------------------------


@transaction.atomic
def send_back(assignment: Assignment, note: str, *, by: User) -> Assignment:
    """Ask the annotator to review again; their verdict stays active until they resubmit.

    Raises:
        ValidationError: The note is missing, nothing was submitted, or the queue is closed.
    """
    if not note.strip():
        raise ValidationError({"note": "Enter a note: what should the reviewer check again?"})
    check_lengths({"note": note})
    assignment = locked(assignment)
    if assignment.state != AssignmentState.SUBMITTED:
        raise ValidationError("This assignment has no submission to send back.")
    check_open(assignment)
    remember(assignment, "sent_back", by, clock.now(), note=note.strip())
    assignment.state = AssignmentState.SENT_BACK
    assignment.sent_back_by, assignment.sent_back_note = by, note.strip()
    assignment.save()
    notify_sent_back(assignment)
    return assignment
