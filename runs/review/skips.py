"""Skip items, with a reason."""

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.work import clock
from runs.review.models import Assignment, AssignmentState, Queue, Skip
from runs.review.reservations import clear, remember, take_item
from runs.review.review_records import check_holder, check_lengths, locked, withdraw_of


@transaction.atomic
def skip(assignment: Assignment, reason: str, *, by: User) -> Skip:
    """Leave the item to others; it is not offered to this reviewer again.

    If it was sent back to them, their evaluations are withdrawn.

    Raises:
        ValidationError: The reason is missing, or somebody else has the assignment (code "lost").
    """
    check_lengths({"reason": reason})
    if not reason.strip():
        raise ValidationError({"reason": "Enter a reason for skipping this item."})
    assignment, now = locked(assignment), clock.now()
    before = Skip.objects.filter(item=assignment.item_id, annotator=by, undone_at=None).first()
    if before is not None:
        return before
    check_holder(assignment, by)
    made = Skip.objects.create(
        item=assignment.item,
        annotator=by,
        reason=reason.strip(),
        draft=assignment.draft,
        created_at=now,
    )
    if assignment.state == AssignmentState.SENT_BACK:
        withdraw_of(assignment, by, "Skipped after it was sent back.")
        assignment.evaluations.clear()
        remember(assignment, "skipped", by, now, note=reason.strip())
    assignment.draft = {}
    clear(assignment, now)
    assignment.state = AssignmentState.OPEN
    assignment.annotator = assignment.reserved_until = None
    assignment.save()
    return made


def last_skip(queue: Queue, by: User) -> Skip | None:
    mine = Skip.objects.filter(annotator=by, item__queue=queue, undone_at=None)
    return mine.select_related("item").order_by("-created_at", "-pk").first()


@transaction.atomic
def restore(last: Skip, by: User) -> Assignment:
    """Undo a skip: the reviewer has the item again, with their draft.

    Raises:
        NoAssignment: Others have taken the item meanwhile, or the queue is closed.
    """
    assignment = take_item(last.item, by=by)
    if last.draft and not assignment.draft:
        assignment.draft = last.draft
        assignment.save(update_fields=["draft"])
    return assignment


def offer_again(skipped: Skip) -> None:
    """Offer the item again to the reviewer who skipped it."""
    Skip.objects.filter(pk=skipped.pk, undone_at=None).update(undone_at=clock.now())
