"""Whom a review concerns besides the reviewer."""

from django.urls import reverse

from evalhub.models import NotificationKind
from evalhub.notifications.events import Event, notify
from runs.review.models import Assignment


def notify_sent_back(assignment: Assignment) -> None:
    """Tell the annotator that their review was sent back.

    Why stands on the work page: it may quote a sealed test, which must not leave the house.
    """
    assert assignment.annotator is not None  # what was submitted has one: the database sees to it
    by = str(assignment.sent_back_by)
    event = Event(
        kind=NotificationKind.SENT_BACK,
        key=f"place {assignment.pk} sent back {len(assignment.past)}",
        title=f"A review of yours in {assignment.queue} was sent back",
        text=f"{by} asks you to look again. It is the first that the queue gives you.",
        url=reverse("admin:review_queue_work", args=[assignment.queue_id]),
        facts={"queue": assignment.queue_id, "assignment": assignment.pk, "by": by},
    )
    notify(event, to=[assignment.annotator])
