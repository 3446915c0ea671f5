"""A queue of very many results is as quick to work in as one of a few."""

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.review.assignment_actions import undo
from runs.review.models import Assignment, AssignmentState
from runs.review.queue_items import add_assignments
from runs.review.reservations import offered, take
from tests.factories import make_user
from tests.runs.review.large_queue import large_queue_of
from tests.runs.review.rows import review

pytestmark = pytest.mark.django_db

MANY = 5_000


def queries(act):
    with CaptureQueriesContext(connection) as found:
        act()
    return len(found)


def counts(queue, annotator):
    """Queries of a day's acts: taking, submitting, undoing."""
    assignment = None

    def taken():
        nonlocal assignment
        assignment = take(queue, by=annotator)

    def submitted():
        review(assignment)

    def undone():
        undo(queue, by=annotator)

    return [queries(act) for act in (taken, submitted, undone)]


def test_acts_make_as_many_queries_in_a_long_queue(ann):
    few, many = large_queue_of(3, reviewers=2), large_queue_of(MANY, reviewers=2)
    counts(few, ann)  # what is read once for a process

    found = counts(few, make_user("annotator"))

    assert found == counts(many, make_user("annotator"))
    assert sum(found) < 100


def test_next_place_is_found_by_the_index_in_its_order(ann):
    queue = large_queue_of(MANY, reviewers=2)

    plan = plan_of(
        offered(ann).filter(queue=queue, state=AssignmentState.OPEN).order_by("position", "pk")
    )

    assert "review_assignment_to_take" in plan
    assert_nothing_is_read_whole(plan)


def test_next_place_is_found_so_by_who_has_reviewed_much(ann):
    queue = large_queue_of(MANY, reviewers=2)
    done = Assignment.objects.filter(queue=queue, number=2, position__lt=MANY // 2)
    done.update(state=AssignmentState.SUBMITTED, annotator=ann, submitted_at=timezone.now())
    analyze()

    plan = plan_of(
        offered(ann).filter(queue=queue, state=AssignmentState.OPEN).order_by("position", "pk")
    )

    assert "review_assignment_to_take" in plan
    assert_nothing_is_read_whole(plan)
    assert take(queue, by=ann).position >= MANY // 2


def plan_of(rows: QuerySet[Assignment]) -> str:
    return rows[:1].explain()


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def assert_nothing_is_read_whole(plan: str) -> None:
    """No table of places is scanned, and nothing is sorted, on either engine."""
    assert "Seq Scan on review_assignment" not in plan  # PostgreSQL's words
    assert "SCAN review_assignment" not in plan  # SQLite's words
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


def test_places_are_added_to_very_many_items(ann):
    queue = large_queue_of(MANY)
    queue.reviewers = 2
    queue.save()

    assert add_assignments(queue) == MANY
    assert Assignment.objects.filter(queue=queue, number=2).count() == MANY
