"""Notifications of reviewers."""

from django.urls import reverse

from evalhub.models import NotificationKind
from evalhub.notifications.events import Event, notify
from runs.review.models import Assignment


def notify_sent_back(assignment: Assignment) -> None:
    """Notify the annotator that their review was sent back.

    The note is left out: it may quote a sealed test, which must not leave the system.
    """
    assert assignment.annotator is not None  # what was submitted has one: the database sees to it
    by = str(assignment.sent_back_by)
    event = Event(
        kind=NotificationKind.SENT_BACK,
        key=f"assignment {assignment.pk} sent back {len(assignment.past)}",
        title=f"Your review in {assignment.queue} was sent back",
        text=f"{by} asks you to review it again. It is the next item in the queue.",
        url=reverse("admin:review_queue_work", args=[assignment.queue_id]),
        facts={"queue": assignment.queue_id, "assignment": assignment.pk, "by": by},
    )
    notify(event, to=[assignment.annotator])
