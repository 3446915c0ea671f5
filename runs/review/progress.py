"""Progress of a queue and of its reviewers, in a fixed number of queries."""

from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import Avg, Count, Max, Q, QuerySet
from django.utils import timezone

from evalhub.models import User
from evalhub.values import clock
from runs.review.models import Assignment, AssignmentState, Queue, ReviewItem, Skip

RECENT = 50
"""Submissions that a reviewer's pace is computed from."""
MIN_SUBMISSIONS = 3
"""Submissions that a pace needs."""


class Progress(NamedTuple):
    """Numbers of items and assignments of a queue; `open` can be taken now.

    Expired reservations count as open. `skipped` leaves out undone skips.
    """

    items: int
    assignments: int
    submitted: int
    reserved: int
    open: int
    skipped: int
    sent_back: int


class Own(NamedTuple):
    """A reviewer's own progress.

    `per_hour` is of their last 50 submissions with a measured time; None with fewer than 3. `today`
    is in the site's time zone. `reserved`: see `Progress`.
    """

    submitted: int
    today: int
    reserved: int
    skipped: int
    per_hour: float | None


class AnnotatorProgress(NamedTuple):
    """The progress of one of several reviewers. `mean_seconds` None: not measured."""

    annotator: User
    skipped: int
    submitted: int
    today: int
    reserved: int
    sent_back: int
    mean_seconds: float | None
    last_at: datetime | None

    @property
    def per_hour(self) -> float | None:
        return per_hour(self.submitted, self.mean_seconds)


def progress(queue: Queue) -> Progress:
    now = clock.now()
    assignments = Assignment.objects.filter(queue=queue).order_by()
    by_state = dict(assignments.values_list("state").annotate(Count("pk")))
    over = assignments.filter(state=AssignmentState.RESERVED, reserved_until__lte=now).count()
    return Progress(
        items=ReviewItem.objects.filter(queue=queue).count(),
        assignments=sum(by_state.values()),
        submitted=by_state.get(AssignmentState.SUBMITTED, 0),
        reserved=by_state.get(AssignmentState.RESERVED, 0) - over,
        open=by_state.get(AssignmentState.OPEN, 0) + over,
        skipped=_skips(queue).count(),
        sent_back=by_state.get(AssignmentState.SENT_BACK, 0),
    )


def _skips(queue: Queue) -> QuerySet[Skip]:
    skips: QuerySet[Skip] = Skip.objects.filter(item__queue=queue, undone_at=None)
    return skips.order_by()


def own_progress(queue: Queue, annotator: AbstractBaseUser) -> Own:
    mine = Assignment.objects.filter(queue=queue, annotator=annotator.pk)
    submitted, now = Q(state=AssignmentState.SUBMITTED), clock.now()
    counts = mine.aggregate(
        all=Count("pk", filter=submitted),
        today=Count("pk", filter=submitted & _today(now)),
        reserved=Count("pk", filter=_reserved(now)),
    )
    timed = mine.filter(submitted, seconds__isnull=False).order_by("-submitted_at", "-pk")
    recent = timed[:RECENT].aggregate(n=Count("pk"), mean=Avg("seconds"))
    return Own(
        submitted=counts["all"],
        today=counts["today"],
        reserved=counts["reserved"],
        skipped=_skips(queue).filter(annotator=annotator.pk).count(),
        per_hour=per_hour(recent["n"], recent["mean"]),
    )


def per_hour(submitted: int, mean_seconds: float | None) -> float | None:
    """Return reviews per hour at this pace; None with too few, or no measured time."""
    return 3600 / mean_seconds if submitted >= MIN_SUBMISSIONS and mean_seconds else None


def _reserved(now: datetime) -> Q:
    return Q(state=AssignmentState.RESERVED, reserved_until__gt=now)


def _today(now: datetime) -> Q:
    start = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return Q(submitted_at__gte=start)


def by_annotator(queue: Queue) -> list[AnnotatorProgress]:
    """Return everybody with an assignment or a skip in the queue, by name."""
    assignments = Assignment.objects.filter(queue=queue, annotator__isnull=False).order_by()
    submitted, now = Q(state=AssignmentState.SUBMITTED), clock.now()
    rows = assignments.values_list("annotator").annotate(
        submitted=Count("pk", filter=submitted),
        today=Count("pk", filter=submitted & _today(now)),
        reserved=Count("pk", filter=_reserved(now)),
        sent_back=Count("pk", filter=Q(state=AssignmentState.SENT_BACK)),
        mean_seconds=Avg("seconds", filter=submitted),
        last_at=Max("submitted_at"),
    )
    done = {pk: figures for pk, *figures in rows}
    skipped = dict(_skips(queue).values_list("annotator").annotate(Count("pk")))
    annotators = User.objects.filter(pk__in=done.keys() | skipped.keys()).order_by("username")
    nothing = [0, 0, 0, 0, None, None]
    return [
        AnnotatorProgress(annotator, skipped.get(annotator.pk, 0), *done.get(annotator.pk, nothing))
        for annotator in annotators
    ]
