"""Queues as they look when results were added to them, without looking for reasons."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from runs.models import Result
from runs.review.assignment_actions import Submitted, submit
from runs.review.models import Assignment, AssignmentState, Queue, ReviewItem
from runs.review.review_draft import ReviewSubmission, Verdict
from tests.factories import make_template, make_test, number
from tests.reports.judged_runs import judged

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
    Assignment.objects.bulk_create(
        Assignment(item=item, queue=queue, position=item.position, number=n)
        for item in items
        for n in range(1, queue.reviewers + 1)
    )
    return items


def submission(option: str = PASSES, why: str = "", **fields: Any) -> ReviewSubmission:
    """A verdict on the answer as a whole."""
    return ReviewSubmission((Verdict("", option, why),), **fields)


def review(
    assignment: Assignment | None, option: str = PASSES, why: str = "As asked."
) -> Submitted:
    """The place's holder submits a verdict on the whole."""
    assert assignment is not None
    assert assignment.annotator is not None
    return submit(assignment, submission(option, why), by=assignment.annotator)


def expire(assignment: Assignment) -> None:
    """The reservation ran out a minute ago."""
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.RESERVED).update(
        reserved_until=past
    )


def filled(count: int, *, is_random: bool = False, **fields: Any) -> Queue:
    """A queue of so many answered results, which one judge lets pass."""
    queue, template = make_queue(**fields), make_template()
    run = judged(*[[1.0]] * count, tests=[make_test(template=template) for _ in range(count)])
    put(queue, *run.results.order_by("pk"), is_random=is_random)
    return queue
