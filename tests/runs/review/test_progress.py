from datetime import timedelta

import pytest
from django.utils import timezone

from runs.review.assignment_actions import send_back, skip, submit
from runs.review.models import Assignment
from runs.review.progress import by_annotator, own_progress, per_hour, progress
from runs.review.reservations import take
from tests.runs.review.rows import expire, filled, review, submission


def test_progress_counts_items_and_places(ann, bob):
    queue = filled(5, reviewers=2)
    review(take(queue, by=ann))
    sent = review(take(queue, by=ann)).assignment
    send_back(sent, "Look again.", by=bob)
    skip(take(queue, by=bob), "No.", by=bob)
    take(queue, by=bob)

    found = progress(queue)

    assert found._asdict() == {
        "items": 5,
        "assignments": 10,
        "submitted": 1,
        "reserved": 1,
        "open": 7,
        "skipped": 1,
        "sent_back": 1,
    }


def test_reservation_that_ran_out_is_open(ann):
    queue = filled(1)
    expire(take(queue, by=ann))

    assert (progress(queue).reserved, progress(queue).open) == (0, 1)


def test_own_pace_is_of_the_time_taken_from_three_submissions_on(ann):
    queue = filled(4)
    for seconds, pace in ((30, None), (60, None), (90, 60)):  # 3 in 180 s are 60 in an hour
        submit(take(queue, by=ann), submission(seconds=seconds), by=ann)
        assert own_progress(queue, ann).per_hour == pace

    assert own_progress(queue, ann)[:2] == (3, 3)


@pytest.mark.parametrize(
    ("submitted", "mean_seconds", "expected"),
    [(0, None, None), (3, 0, None), (2, 36, None), (3, 36, 100)],
)
def test_per_hour(submitted, mean_seconds, expected):
    assert per_hour(submitted, mean_seconds) == expected


def test_today_is_a_day_of_the_site(ann, settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    queue = filled(2)
    review(take(queue, by=ann))
    review(take(queue, by=ann))
    start = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    first = Assignment.objects.order_by("pk")[0]
    before = start - timedelta(seconds=1)
    Assignment.objects.filter(pk=first.pk).update(submitted_at=before)

    assert (own_progress(queue, ann).submitted, own_progress(queue, ann).today) == (2, 1)


def test_own_figures_are_of_one_queue_and_person(ann, bob):
    queue, other = filled(2), filled(1)
    review(take(queue, by=bob))
    review(take(other, by=ann))

    assert own_progress(queue, ann) == (0, 0, 0, 0, None)


def test_each_person_by_name(ann, bob):
    queue = filled(3)
    submit(take(queue, by=bob), submission(seconds=20), by=bob)
    take(queue, by=bob)
    skip(take(queue, by=ann), "No.", by=ann)

    first, second = by_annotator(queue)

    assert (first.annotator, second.annotator) == (ann, bob)
    assert (first.submitted, first.skipped, first.mean_seconds) == (0, 1, None)
    assert (second.submitted, second.reserved, second.mean_seconds) == (1, 1, 20)


@pytest.mark.parametrize("count", [1, 12])
def test_queries_do_not_grow(ann, bob, count, django_assert_num_queries):
    queue = filled(count, reviewers=2)
    review(take(queue, by=ann))
    review(take(queue, by=bob))

    with django_assert_num_queries(5):
        assert progress(queue).submitted == 2
    with django_assert_num_queries(4):
        assert own_progress(queue, ann).submitted == 1
    with django_assert_num_queries(4):
        assert len(by_annotator(queue)) == 2
