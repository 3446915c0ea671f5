"""Queues as they look when results were added to them, without looking for reasons."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from runs.models import Result
from runs.review.models import Place, PlaceState, Queue, ReviewItem
from runs.review.submitting import Sheet, Submitted, Verdict, submit
from tests.factories import make_template, make_test, number
from tests.reports.rows import judged

PASSES, FAILS = "1", "0"
"""Labels of the two options of the built-in scale."""


def make_queue(**fields: Any) -> Queue:
    return Queue.objects.create(**({"name": f"queue {next(number)}", "seed": 1} | fields))


def put(queue: Queue, *results: Result, is_random: bool = False) -> list[ReviewItem]:
    """Items of these results, in this order, each with as many places as the queue has."""
    first = queue.items.count() + 1
    items = [
        ReviewItem.objects.create(
            queue=queue, result=result, position=position, is_random=is_random
        )
        for position, result in enumerate(results, first)
    ]
    Place.objects.bulk_create(
        Place(item=item, queue=queue, position=item.position, number=n)
        for item in items
        for n in range(1, queue.reviewers + 1)
    )
    return items


def sheet(option: str = PASSES, why: str = "", **fields: Any) -> Sheet:
    """A verdict on the answer as a whole."""
    return Sheet((Verdict("", option, why),), **fields)


def review(place: Place | None, option: str = PASSES, why: str = "As asked.") -> Submitted:
    """The place's holder submits a verdict on the whole."""
    assert place is not None
    assert place.annotator is not None
    return submit(place, sheet(option, why), by=place.annotator)


def expire(place: Place) -> None:
    """The reservation ran out a minute ago."""
    past = timezone.now() - timedelta(minutes=1)
    Place.objects.filter(pk=place.pk, state=PlaceState.RESERVED).update(reserved_until=past)


def filled(count: int, *, is_random: bool = False, **fields: Any) -> Queue:
    """A queue of so many answered results, which one judge lets pass."""
    queue, template = make_queue(**fields), make_template()
    run = judged(*[[1.0]] * count, tests=[make_test(template=template) for _ in range(count)])
    put(queue, *run.results.order_by("pk"), is_random=is_random)
    return queue
