"""Giving people places: never one place to two, never one item twice to the same person.

A reservation is a lease on the database's clock. One that ran out is anybody's; until somebody
takes it, place and draft stay with whom they were.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from evalhub.models import User
from evalhub.work import clock
from runs.review.models import Assignment, AssignmentState, Queue, QueueState, ReviewItem, Skip
from runs.review.submission import says_something

KEPT = (AssignmentState.RESERVED, AssignmentState.SENT_BACK)
"""States in which a place is somebody's to review."""


class NoAssignment(Exception):
    """Why somebody cannot have a place, in words."""


# The next one ------------------------------------------------------------------------------------


@transaction.atomic
def take(queue: Queue, *, by: User) -> Assignment | None:
    """The place that this person reviews next, reserved for them; None: there is none.

    First what they are at, then what was sent back to them, then what they left until their time
    ran out, then the first free one of an item that they neither reviewed nor skipped.
    """
    queue_now = Queue.objects.filter(pk=queue.pk, state=QueueState.OPEN).first()
    if queue_now is None:
        return None
    _only_once_at_a_time(by)
    now = clock.now()
    assignment = _mine(queue_now, by, now) or _free(queue_now, by, now)
    return _reserved(assignment, queue_now, by, now) if assignment else None


def _only_once_at_a_time(by: User) -> None:
    """One person's takes wait for each other: two windows get the same place, not two."""
    User.objects.select_for_update(no_key=True).get(pk=by.pk)


def _mine(queue: Queue, by: User, now: datetime) -> Assignment | None:
    """What is theirs already, the most urgent first."""
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
    """The first place that is open, or whose reservation ran out; locked.

    Each is looked for by itself, so that the index gives it in its order. SQLite has no row
    locks: there the IMMEDIATE transaction does the same.
    """
    rows = offered(queue, by).order_by("position", "pk")
    rows = rows.select_for_update(skip_locked=True, of=("self",))
    left = rows.filter(state=AssignmentState.RESERVED, reserved_until__lte=now)
    found = [rows.filter(state=AssignmentState.OPEN).first(), left.first()]
    return min(
        (assignment for assignment in found if assignment is not None),
        key=lambda assignment: (assignment.position, assignment.pk),
        default=None,
    )


def offered(queue: Queue, by: User) -> Any:
    """Places of items on which this person has none and which they did not skip."""
    mine = Assignment.objects.filter(item=OuterRef("item"), annotator=by)
    skipped = Skip.objects.filter(item=OuterRef("item"), annotator=by, undone_at=None)
    readable = Assignment.objects.readable_by(by)
    return readable.filter(~Exists(mine), ~Exists(skipped), queue=queue)


# A certain one -----------------------------------------------------------------------------------


@transaction.atomic
def take_item(item: ReviewItem, *, by: User) -> Assignment:
    """A place of this very item, reserved for this person; it takes back their skip of it.

    Raises:
        NoPlace: The queue is closed, they have reviewed it, may not read it, or no place is left.
    """
    queue = Queue.objects.get(pk=item.queue_id)
    if queue.state != QueueState.OPEN:
        raise NoAssignment(f"{queue} is closed: it can be reviewed again once somebody reopens it.")
    _only_once_at_a_time(by)
    now = clock.now()
    rows = Assignment.objects.readable_by(by).filter(item=item).order_by("number")
    assignments = list(rows.select_for_update(of=("self",)))
    if not assignments:
        raise NoAssignment("The test is sealed, and you may not read it.")
    assignment = _assignment_among(assignments, by, now)
    Skip.objects.filter(item=item, annotator=by, undone_at=None).update(undone_at=now)
    return _reserved(assignment, queue, by, now)


def _assignment_among(assignments: list[Assignment], by: User, now: datetime) -> Assignment:
    for assignment in assignments:
        if assignment.annotator_id == by.pk:
            if assignment.state == AssignmentState.SUBMITTED:
                raise NoAssignment(
                    "You have reviewed this already: undo it to change what you said."
                )
            return assignment
    for assignment in assignments:
        if assignment.state == AssignmentState.OPEN or _is_over(assignment, now):
            return assignment
    raise NoAssignment(
        "Somebody else reviews this."
        if len(assignments) == 1
        else f"All its {len(assignments)} places are taken by others."
    )


def _reserved(assignment: Assignment, queue: Queue, by: User, now: datetime) -> Assignment:
    """The place, this person's from now on; what somebody else left in it goes to its past."""
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
    if assignment.annotator is not None and says_something(assignment.draft):
        remember(assignment, "left", assignment.annotator, now)
    assignment.draft, assignment.note, assignment.seconds, assignment.submitted_at = (
        {},
        "",
        None,
        None,
    )
    assignment.sent_back_by, assignment.sent_back_note = None, ""


def until(queue: Queue, now: datetime) -> datetime:
    return now + timedelta(minutes=queue.reserved_minutes)


def remember(assignment: Assignment, what: str, by: User, now: datetime, note: str = "") -> None:
    """Add to the place's past what is about to be overwritten; the caller saves it."""
    told = {"what": what, "by": by.get_username(), "at": now.isoformat()}
    assignment.past = [*assignment.past, {**told, "note": note, "draft": assignment.draft}]


# Keeping and giving back -------------------------------------------------------------------------


def renew(assignment: Assignment, *, by: User) -> bool:
    """Keep the place for the queue's full time from now on. False: it is this person's no more."""
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
    """Let others have the place. What was typed stays with its author until somebody takes it."""
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state=AssignmentState.RESERVED)
    found = mine.select_for_update(of=("self",)).first()
    if found is None:
        return
    if says_something(found.draft):
        mine.update(reserved_until=clock.now())
    else:
        mine.update(state=AssignmentState.OPEN, annotator=None, reserved_until=None, draft={})
