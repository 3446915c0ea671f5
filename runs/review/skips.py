"""Passing an item on to others, with the reason."""

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.work import clock
from runs.review.models import Assignment, AssignmentState, Queue, Skip
from runs.review.reservations import clear, remember, take_item
from runs.review.review_records import check_holder, check_lengths, locked, withdraw_of


@transaction.atomic
def skip(assignment: Assignment, reason: str, *, by: User) -> Skip:
    """Leave the item to others. It is not offered to this person again.

    What they said of it before it was sent back to them is withdrawn: another says it anew.

    Raises:
        ValidationError: No reason, or the place is this person's no more (code "lost").
    """
    check_lengths({"reason": reason})
    if not reason.strip():
        raise ValidationError({"reason": "Say why you skip it: others will see the item then."})
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
    assignment.state, assignment.annotator, assignment.reserved_until = (
        AssignmentState.OPEN,
        None,
        None,
    )
    assignment.save()
    return made


def undo_skip(queue: Queue, *, by: User) -> Assignment | None:
    """Take back this person's last skip: the item is theirs again, with what they had typed.

    None: they have skipped nothing that was not taken back.

    Raises:
        NoPlace: Others have taken the item meanwhile, or the queue is closed.
    """
    last = last_skip(queue, by)
    return None if last is None else restore(last, by)


def last_skip(queue: Queue, by: User) -> Skip | None:
    mine = Skip.objects.filter(annotator=by, item__queue=queue, undone_at=None)
    return mine.select_related("item").order_by("-created_at", "-pk").first()


@transaction.atomic
def restore(last: Skip, by: User) -> Assignment:
    """The item of a skip, this person's again; the skip is taken back.

    Raises:
        NoPlace: See `undo_skip`.
    """
    assignment = take_item(last.item, by=by)
    if last.draft and not assignment.draft:
        assignment.draft = last.draft
        assignment.save(update_fields=["draft"])
    return assignment


def offer_again(skipped: Skip) -> None:
    """Let the item be offered to who skipped it, as if they had not."""
    standing = Skip.objects.filter(pk=skipped.pk, undone_at=None)
    standing.update(undone_at=clock.now())
