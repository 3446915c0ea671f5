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
from runs.review.models import Place, PlaceState, Queue, QueueState, ReviewItem, Skip
from runs.review.sheets import says_something

KEPT = (PlaceState.RESERVED, PlaceState.SENT_BACK)
"""States in which a place is somebody's to review."""


class NoPlace(Exception):
    """Why somebody cannot have a place, in words."""


# The next one ------------------------------------------------------------------------------------


@transaction.atomic
def take(queue: Queue, *, by: User) -> Place | None:
    """The place that this person reviews next, reserved for them; None: there is none.

    First what they are at, then what was sent back to them, then what they left until their time
    ran out, then the first free one of an item that they neither reviewed nor skipped.
    """
    queue_now = Queue.objects.filter(pk=queue.pk, state=QueueState.OPEN).first()
    if queue_now is None:
        return None
    _only_once_at_a_time(by)
    now = clock.now()
    place = _mine(queue_now, by, now) or _free(queue_now, by, now)
    return _reserved(place, queue_now, by, now) if place else None


def _only_once_at_a_time(by: User) -> None:
    """One person's takes wait for each other: two windows get the same place, not two."""
    User.objects.select_for_update(no_key=True).get(pk=by.pk)


def _mine(queue: Queue, by: User, now: datetime) -> Place | None:
    """What is theirs already, the most urgent first."""
    rows = Place.objects.readable_by(by).filter(queue=queue, annotator=by, state__in=KEPT)
    found = list(rows.select_for_update(of=("self",)))

    def urgency(place: Place) -> tuple[int, int, int]:
        if place.state == PlaceState.SENT_BACK:
            return 1, place.position, place.pk
        return (2 if _is_over(place, now) else 0), place.position, place.pk

    return min(found, key=urgency, default=None)


def _is_over(place: Place, now: datetime) -> bool:
    return place.reserved_until is not None and place.reserved_until <= now


def _free(queue: Queue, by: User, now: datetime) -> Place | None:
    """The first place that is open, or whose reservation ran out; locked.

    Each is looked for by itself, so that the index gives it in its order. SQLite has no row
    locks: there the IMMEDIATE transaction does the same.
    """
    rows = offered(queue, by).order_by("position", "pk")
    rows = rows.select_for_update(skip_locked=True, of=("self",))
    left = rows.filter(state=PlaceState.RESERVED, reserved_until__lte=now)
    found = [rows.filter(state=PlaceState.OPEN).first(), left.first()]
    return min(
        (place for place in found if place is not None),
        key=lambda place: (place.position, place.pk),
        default=None,
    )


def offered(queue: Queue, by: User) -> Any:
    """Places of items on which this person has none and which they did not skip."""
    mine = Place.objects.filter(item=OuterRef("item"), annotator=by)
    skipped = Skip.objects.filter(item=OuterRef("item"), annotator=by, taken_back_at=None)
    readable = Place.objects.readable_by(by)
    return readable.filter(~Exists(mine), ~Exists(skipped), queue=queue)


# A certain one -----------------------------------------------------------------------------------


@transaction.atomic
def take_item(item: ReviewItem, *, by: User) -> Place:
    """A place of this very item, reserved for this person; it takes back their skip of it.

    Raises:
        NoPlace: The queue is closed, they have reviewed it, may not read it, or no place is left.
    """
    queue = Queue.objects.get(pk=item.queue_id)
    if queue.state != QueueState.OPEN:
        raise NoPlace(f"{queue} is closed: it can be reviewed again once somebody reopens it.")
    _only_once_at_a_time(by)
    now = clock.now()
    rows = Place.objects.readable_by(by).filter(item=item).order_by("number")
    places = list(rows.select_for_update(of=("self",)))
    if not places:
        raise NoPlace("The test is sealed, and you may not read it.")
    place = _place_among(places, by, now)
    Skip.objects.filter(item=item, annotator=by, taken_back_at=None).update(taken_back_at=now)
    return _reserved(place, queue, by, now)


def _place_among(places: list[Place], by: User, now: datetime) -> Place:
    for place in places:
        if place.annotator_id == by.pk:
            if place.state == PlaceState.SUBMITTED:
                raise NoPlace("You have reviewed this already: undo it to change what you said.")
            return place
    for place in places:
        if place.state == PlaceState.OPEN or _is_over(place, now):
            return place
    raise NoPlace(
        "Somebody else reviews this."
        if len(places) == 1
        else f"All its {len(places)} places are taken by others."
    )


def _reserved(place: Place, queue: Queue, by: User, now: datetime) -> Place:
    """The place, this person's from now on; what somebody else left in it goes to its past."""
    if place.annotator_id != by.pk:
        clear(place, now)
        place.annotator = by
    if place.state != PlaceState.SENT_BACK:
        place.state = PlaceState.RESERVED
        place.reserved_until = until(queue, now)
    place.queue = queue
    place.save()
    return place


def clear(place: Place, now: datetime) -> None:
    if place.annotator is not None and says_something(place.draft):
        remember(place, "left", place.annotator, now)
    place.draft, place.note, place.seconds, place.submitted_at = {}, "", None, None
    place.sent_back_by, place.sent_back_note = None, ""


def until(queue: Queue, now: datetime) -> datetime:
    return now + timedelta(minutes=queue.reserved_minutes)


def remember(place: Place, what: str, by: User, now: datetime, note: str = "") -> None:
    """Add to the place's past what is about to be overwritten; the caller saves it."""
    told = {"what": what, "by": by.get_username(), "at": now.isoformat()}
    place.past = [*place.past, {**told, "note": note, "draft": place.draft}]


# Keeping and giving back -------------------------------------------------------------------------


def renew(place: Place, *, by: User) -> bool:
    """Keep the place for the queue's full time from now on. False: it is this person's no more."""
    mine = Place.objects.filter(
        Q(state=PlaceState.SENT_BACK) | Q(state=PlaceState.RESERVED, queue__state=QueueState.OPEN),
        pk=place.pk,
        annotator=by,
    )
    ahead = until(place.queue, clock.now())
    reserved = Place.objects.filter(pk__in=mine.order_by().values("pk"), annotator=by)
    return bool(reserved.filter(state=PlaceState.RESERVED).update(reserved_until=ahead)) or (
        mine.filter(state=PlaceState.SENT_BACK).exists()
    )


@transaction.atomic
def release(place: Place, *, by: User) -> None:
    """Let others have the place. What was typed stays with its author until somebody takes it."""
    mine = Place.objects.filter(pk=place.pk, annotator=by, state=PlaceState.RESERVED)
    found = mine.select_for_update(of=("self",)).first()
    if found is None:
        return
    if says_something(found.draft):
        mine.update(reserved_until=clock.now())
    else:
        mine.update(state=PlaceState.OPEN, annotator=None, reserved_until=None, draft={})
