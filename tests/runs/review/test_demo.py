import pytest

from runs.models import Suite
from runs.review.demo import make_once
from runs.review.models import Queue
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db


def test_the_demo_makes_one_queue_however_often_it_starts():
    suite = Suite.objects.create(name="Library desk")
    runs = [make_run(), make_run(suite=suite)]
    for _ in range(2):
        make_once(runs, make_user())

    assert [queue.follows for queue in Queue.objects.all()] == [suite]


def test_runs_of_no_suite_make_no_queue():
    make_once([make_run()], make_user())

    assert not Queue.objects.exists()
