"""Handing in what a reviewer says, and taking it back. All of it stays in the history."""

from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.work import clock
from runs.models import Result
from runs.review.demanding import demands_on
from runs.review.models import Correction, Place, PlaceState, Queue, QueueState
from runs.review.recording import (
    check_holder,
    check_lengths,
    check_open,
    keep_correction,
    locked,
    recorded,
    seconds_of,
    withdraw_of,
)
from runs.review.sheets import Sheet, Verdict, as_draft, says_something
from runs.review.skipping import last_skip, restore, skip, take_back_skip
from runs.review.taking import KEPT, release, remember, until
from runs.review.telling import told_sent_back

__all__ = [
    "Sheet",
    "Submitted",
    "Verdict",
    "reopen",
    "save_draft",
    "send_back",
    "skip",
    "submit",
    "take_back_skip",
    "undo",
]


class Submitted(NamedTuple):
    """What came of it. `agrees` with the judges; None: they gave no verdict to compare with.

    `is_new` False: it had been submitted before, and nothing was done.
    """

    place: Place
    result: Result
    agrees: bool | None
    is_new: bool = True


@transaction.atomic
def submit(place: Place, sheet: Sheet, *, by: User) -> Submitted:
    """Record the verdicts of a sheet, and give the place up as reviewed.

    A second submission of the same place does nothing until it is undone or sent back.

    Raises:
        ValidationError: By field; or the place is this person's no more (code "lost").
    """
    place = locked(place)
    demands = demands_on(place)
    if place.state == PlaceState.SUBMITTED and place.annotator_id == by.pk:
        return Submitted(place, place.item.result, demands.agrees(sheet), is_new=False)
    check_open(place)
    check_holder(place, by)
    demands.check(sheet)
    evaluations = recorded(place, sheet, demands, by)
    keep_correction(place.item.result, sheet.correction, by)
    place.state, place.reserved_until = PlaceState.SUBMITTED, None
    place.submitted_at = clock.now()
    place.seconds, place.note = seconds_of(sheet), sheet.note.strip()
    place.draft = as_draft(sheet)
    place.save()
    place.evaluations.set(evaluations)
    return Submitted(place, place.item.result, demands.agrees(sheet))


# Drafts ------------------------------------------------------------------------------------------


def save_draft(place: Place, draft: dict[str, Any], *, by: User) -> bool:
    """Keep what was typed, and the place with it. False: the place is this person's no more.

    Raises:
        ValidationError: A text is too long to be kept.
    """
    check_lengths(draft)
    mine = Place.objects.filter(pk=place.pk, annotator=by, state__in=KEPT)
    if not mine.update(draft=draft):
        return False
    if place.queue.state == QueueState.OPEN:
        ahead = until(place.queue, clock.now())
        mine.filter(state=PlaceState.RESERVED).update(reserved_until=ahead)
    return True


# Undoing -----------------------------------------------------------------------------------------


@transaction.atomic
def reopen(place: Place, *, by: User) -> Place:
    """Take back one's own submission: its evaluations are withdrawn, the draft is there again.

    Raises:
        ValidationError: It is not submitted by this person, the queue is closed, or they have
            evaluated the result again since.
    """
    place = locked(place)
    if place.state != PlaceState.SUBMITTED or place.annotator_id != by.pk:
        raise ValidationError("You have not submitted this, so there is nothing to undo.")
    check_open(place)
    now = clock.now()
    withdraw_of(place, by, "Undone.")
    text = place.draft.get("correction", "").strip()
    mine = Correction.objects.filter(result=place.item.result_id, annotator=by, text=text)
    mine.filter(promoted_at=None, taken_back_at=None).update(taken_back_at=now)
    remember(place, "undone", by, now, note=place.note)
    place.submitted_at = None
    if place.sent_back_note:
        place.state = PlaceState.SENT_BACK
    else:
        place.state, place.reserved_until = PlaceState.RESERVED, until(place.queue, now)
    place.save()
    place.evaluations.clear()
    return place


def undo(queue: Queue, *, by: User) -> Place | None:
    """Take back this person's last submission or skip in the queue, whichever came last.

    The place is theirs again, with the draft that it was submitted with; None: there is nothing.
    What they were given since and left untouched is free for others.

    Raises:
        ValidationError: See `reopen`.
        NoPlace: See `take_back_skip`.
    """
    mine = Place.objects.filter(queue=queue, annotator=by, state=PlaceState.SUBMITTED)
    place = mine.order_by("-submitted_at", "-pk").first()
    skipped = last_skip(queue, by)
    if skipped is not None and (
        place is None or place.submitted_at is None or skipped.created_at > place.submitted_at
    ):
        back = restore(skipped, by)
    elif place is not None:
        back = reopen(place, by=by)
    else:
        return None
    _leave_untouched(queue, by, but=back)
    return back


def _leave_untouched(queue: Queue, by: User, *, but: Place) -> None:
    """Let others have what the person was given since, and has typed nothing into."""
    rows = Place.objects.filter(queue=queue, annotator=by, state=PlaceState.RESERVED)
    for place in rows.exclude(pk=but.pk):
        if not says_something(place.draft):
            release(place, by=by)


# Sending back ------------------------------------------------------------------------------------


@transaction.atomic
def send_back(place: Place, note: str, *, by: User) -> Place:
    """Ask the annotator to look again; what they said stands until they submit again.

    Raises:
        ValidationError: No note, nothing was submitted, or the queue is closed.
    """
    if not note.strip():
        raise ValidationError({"note": "Say what they should look at again."})
    check_lengths({"note": note})
    place = locked(place)
    if place.state != PlaceState.SUBMITTED:
        raise ValidationError("Nothing is submitted here that could be sent back.")
    check_open(place)
    remember(place, "sent_back", by, clock.now(), note=note.strip())
    place.state = PlaceState.SENT_BACK
    place.sent_back_by, place.sent_back_note = by, note.strip()
    place.save()
    told_sent_back(place)
    return place
