"""Reserve assignments: each for one reviewer, and each item once per reviewer.

A reservation is a lease on the database's clock. After it expires, anybody may take the
assignment; until then its reviewer keeps it, with the draft.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from evalhub.models import User
from evalhub.values import clock
from runs.review.models import Assignment, AssignmentState, Queue, QueueState, ReviewItem, Skip
from runs.review.review_draft import has_input, too_long

KEPT = (AssignmentState.RESERVED, AssignmentState.SENT_BACK)
"""States in which an assignment belongs to a reviewer."""

LOST = "lost"
"""Error code: somebody else has the assignment."""
ANSWERED = "answered"
"""Error code: the reviewer has submitted another verdict on the item."""
EXPIRED = "Your reservation expired and somebody took this item."


class NoAssignment(Exception):
    """The reason why an assignment cannot be reserved."""


# The next assignment -----------------------------------------------------------------------------


@transaction.atomic
def take(queue: Queue, *, by: User) -> Assignment | None:
    """Reserve the reviewer's next assignment; None if none is left.

    In this order: the one they are working on, those sent back to them, their expired ones, and
    the first free one of an item that they have neither reviewed nor skipped.
    """
    queue_now = Queue.objects.filter(pk=queue.pk, state=QueueState.OPEN).first()
    if queue_now is None:
        return None
    _only_once_at_a_time(by)
    now = clock.now()
    assignment = _mine(queue_now, by, now) or _free(queue_now, by, now)
    return _reserved(assignment, queue_now, by, now) if assignment else None


def _only_once_at_a_time(by: User) -> None:
    """Serialise the reviewer's requests, so that two windows get the same assignment."""
    User.objects.select_for_update(no_key=True).get(pk=by.pk)


def _mine(queue: Queue, by: User, now: datetime) -> Assignment | None:
    """Return the most urgent assignment that the reviewer has already."""
    rows = Assignment.objects.readable_by(by).filter(queue=queue, annotator=by, state__in=KEPT)
    found = list(rows.select_for_update(of=("self",)))

    def urgency(assignment: Assignment) -> tuple[int, int, int]:
        if assignment.state == AssignmentState.SENT_BACK:
            return 1, assignment.position, assignment.pk
        return (2 if _is_over(assignment, now) else 0), assignment.position, assignment.pk

    return min(found, key=urgency, default=None)


def _is_over(assignment: Assignment, now: datetime) -> bool:
    return assignment.reserved_until is not None and assignment.reserved_until <= now


def _free(queue: Queue, by: User, now: datetime) -> Assignment | None:
    """Lock and return the first assignment that is open or expired.

    Two queries, so that each follows the index. SQLite has no row locks: there the IMMEDIATE
    transaction does the same.
    """
    rows = offered(by).filter(queue=queue).order_by("position", "pk")
    rows = rows.select_for_update(skip_locked=True, of=("self",))
    left = rows.filter(state=AssignmentState.RESERVED, reserved_until__lte=now)
    found = [rows.filter(state=AssignmentState.OPEN).first(), left.first()]
    return min(
        (assignment for assignment in found if assignment is not None),
        key=lambda assignment: (assignment.position, assignment.pk),
        default=None,
    )


def waiting_for(by: User) -> list[tuple[int, str, int]]:
    """Return (queue, its name, items) of the open queues with work for the reviewer; two queries.

    Items are those that they have begun or were sent back, and those that they may take.
    """
    is_over = Q(state=AssignmentState.RESERVED, reserved_until__lte=clock.now())
    free = offered(by).filter(is_over | Q(state=AssignmentState.OPEN))
    mine = Assignment.objects.readable_by(by).filter(annotator=by, state__in=KEPT)
    waiting: Counter[tuple[int, str]] = Counter()
    for rows in (mine, free):
        found = rows.filter(queue__state=QueueState.OPEN).order_by()
        counted = found.values_list("queue", "queue__name").annotate(Count("item", distinct=True))
        for pk, name, n in counted:
            waiting[pk, name] += n
    return [(pk, name, n) for (pk, name), n in sorted(waiting.items(), key=lambda one: one[0][1])]


def offered(by: User) -> Any:
    """Select assignments of items that the reviewer neither has nor skipped."""
    mine = Assignment.objects.filter(item=OuterRef("item"), annotator=by)
    skipped = Skip.objects.filter(item=OuterRef("item"), annotator=by, undone_at=None)
    readable = Assignment.objects.readable_by(by)
    return readable.filter(~Exists(mine), ~Exists(skipped))


# A given item ------------------------------------------------------------------------------------


@transaction.atomic
def take_item(item: ReviewItem, *, by: User) -> Assignment:
    """Reserve an assignment of this item, undoing the reviewer's skip of it.

    Raises:
        NoAssignment: The queue is closed, they have reviewed the item or may not read it, or
            others have all its assignments.
    """
    queue = Queue.objects.get(pk=item.queue_id)
    if queue.state != QueueState.OPEN:
        raise NoAssignment(f"{queue} is closed: ask a maintainer to reopen it.")
    _only_once_at_a_time(by)
    now = clock.now()
    rows = Assignment.objects.readable_by(by).filter(item=item).order_by("number")
    assignments = list(rows.select_for_update(of=("self",)))
    if not assignments:
        raise NoAssignment("The test is sealed: you may not read it.")
    assignment = _assignment_among(assignments, by, now)
    Skip.objects.filter(item=item, annotator=by, undone_at=None).update(undone_at=now)
    return _reserved(assignment, queue, by, now)


def _assignment_among(assignments: list[Assignment], by: User, now: datetime) -> Assignment:
    for assignment in assignments:
        if assignment.annotator_id == by.pk:
            if assignment.state == AssignmentState.SUBMITTED:
                raise NoAssignment("You have reviewed this item: undo to change your verdict.")
            return assignment
    for assignment in assignments:
        if assignment.state == AssignmentState.OPEN or _is_over(assignment, now):
            return assignment
    raise NoAssignment(
        "Somebody else is reviewing this item."
        if len(assignments) == 1
        else f"Others are reviewing this item: all {len(assignments)} assignments are taken."
    )


def _reserved(assignment: Assignment, queue: Queue, by: User, now: datetime) -> Assignment:
    """Assign to the reviewer; an earlier reviewer's draft goes to the history in `past`."""
    if assignment.annotator_id != by.pk:
        clear(assignment, now)
        assignment.annotator = by
    if assignment.state != AssignmentState.SENT_BACK:
        assignment.state = AssignmentState.RESERVED
        assignment.reserved_until = until(queue, now)
    assignment.queue = queue
    assignment.save()
    return assignment


def clear(assignment: Assignment, now: datetime) -> None:
    if assignment.annotator is not None and has_input(assignment.draft):
        remember(assignment, "left", assignment.annotator, now)
    assignment.draft = {}
    assignment.note = assignment.sent_back_note = ""
    assignment.seconds = assignment.submitted_at = assignment.sent_back_by = None


def until(queue: Queue, now: datetime) -> datetime:
    return now + timedelta(minutes=queue.reserved_minutes)


def remember(assignment: Assignment, what: str, by: User, now: datetime, note: str = "") -> None:
    """Add to `past` before fields are overwritten; the caller saves it."""
    event = {"what": what, "by": by.get_username(), "at": now.isoformat()}
    assignment.past = [*assignment.past, {**event, "note": note, "draft": assignment.draft}]


# Keeping and giving back -------------------------------------------------------------------------


def renew(assignment: Assignment, *, by: User) -> bool:
    """Extend the reservation by the queue's full time; False if somebody else has it."""
    mine = Assignment.objects.filter(
        Q(state=AssignmentState.SENT_BACK)
        | Q(state=AssignmentState.RESERVED, queue__state=QueueState.OPEN),
        pk=assignment.pk,
        annotator=by,
    )
    ahead = until(assignment.queue, clock.now())
    reserved = Assignment.objects.filter(pk__in=mine.order_by().values("pk"), annotator=by)
    return bool(reserved.filter(state=AssignmentState.RESERVED).update(reserved_until=ahead)) or (
        mine.filter(state=AssignmentState.SENT_BACK).exists()
    )


@transaction.atomic
def release(assignment: Assignment, *, by: User) -> None:
    """Release the assignment; its draft stays until somebody else takes it."""
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state=AssignmentState.RESERVED)
    found = mine.select_for_update(of=("self",)).first()
    if found is None:
        return
    if has_input(found.draft):
        mine.update(reserved_until=clock.now())
    else:
        mine.update(state=AssignmentState.OPEN, annotator=None, reserved_until=None, draft={})


# Checks before a change --------------------------------------------------------------------------


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
