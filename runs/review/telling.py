"""Whom a review concerns besides the reviewer."""

from django.urls import reverse

from evalhub.models import NoticeKind
from evalhub.notices.telling import Event, tell
from runs.review.models import Place


def told_sent_back(place: Place) -> None:
    """Tell the annotator that their review was sent back.

    Why stands on the work page: it may quote a sealed test, which must not leave the house.
    """
    assert place.annotator is not None  # what was submitted has one: the database sees to it
    by = str(place.sent_back_by)
    event = Event(
        kind=NoticeKind.SENT_BACK,
        key=f"place {place.pk} sent back {len(place.past)}",
        title=f"A review of yours in {place.queue} was sent back",
        text=f"{by} asks you to look again. It is the first that the queue gives you.",
        url=reverse("admin:review_queue_work", args=[place.queue_id]),
        facts={"queue": place.queue_id, "place": place.pk, "by": by},
    )
    tell(event, to=[place.annotator])
