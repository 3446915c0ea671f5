"""Passing an item on to others, with the reason."""

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.work import clock
from runs.review.models import Place, PlaceState, Queue, Skip
from runs.review.recording import check_holder, check_lengths, locked, withdraw_of
from runs.review.taking import clear, remember, take_item


@transaction.atomic
def skip(place: Place, reason: str, *, by: User) -> Skip:
    """Leave the item to others. It is not offered to this person again.

    What they said of it before it was sent back to them is withdrawn: another says it anew.

    Raises:
        ValidationError: No reason, or the place is this person's no more (code "lost").
    """
    check_lengths({"reason": reason})
    if not reason.strip():
        raise ValidationError({"reason": "Say why you skip it: others will see the item then."})
    place, now = locked(place), clock.now()
    before = Skip.objects.filter(item=place.item_id, annotator=by, taken_back_at=None).first()
    if before is not None:
        return before
    check_holder(place, by)
    made = Skip.objects.create(
        item=place.item, annotator=by, reason=reason.strip(), draft=place.draft, created_at=now
    )
    if place.state == PlaceState.SENT_BACK:
        withdraw_of(place, by, "Skipped after it was sent back.")
        place.evaluations.clear()
        remember(place, "skipped", by, now, note=reason.strip())
    place.draft = {}
    clear(place, now)
    place.state, place.annotator, place.reserved_until = PlaceState.OPEN, None, None
    place.save()
    return made


def take_back_skip(queue: Queue, *, by: User) -> Place | None:
    """Take back this person's last skip: the item is theirs again, with what they had typed.

    None: they have skipped nothing that was not taken back.

    Raises:
        NoPlace: Others have taken the item meanwhile, or the queue is closed.
    """
    last = last_skip(queue, by)
    return None if last is None else restore(last, by)


def last_skip(queue: Queue, by: User) -> Skip | None:
    mine = Skip.objects.filter(annotator=by, item__queue=queue, taken_back_at=None)
    return mine.select_related("item").order_by("-created_at", "-pk").first()


@transaction.atomic
def restore(last: Skip, by: User) -> Place:
    """The item of a skip, this person's again; the skip is taken back.

    Raises:
        NoPlace: See `take_back_skip`.
    """
    place = take_item(last.item, by=by)
    if last.draft and not place.draft:
        place.draft = last.draft
        place.save(update_fields=["draft"])
    return place


def offer_again(skipped: Skip) -> None:
    """Let the item be offered to who skipped it, as if they had not."""
    standing = Skip.objects.filter(pk=skipped.pk, taken_back_at=None)
    standing.update(taken_back_at=clock.now())
