from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ

from evalhub.work.processes.queue import MAX_TASKS, enqueue_task, is_task_waiting, request_worker
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_worker_is_asked_for_when_the_transaction_is_saved():
    with transaction.atomic():
        request_worker()
        assert not is_task_waiting()
    assert is_task_waiting()


@pytest.mark.django_db(transaction=True)
def test_no_worker_is_asked_for_by_what_was_rolled_back():
    with transaction.atomic():
        request_worker()
        transaction.set_rollback(True)
    assert not is_task_waiting()


def test_tasks_do_not_pile_up():
    added = [enqueue_task() for _ in range(MAX_TASKS + 5)]
    assert sum(added) == OrmQ.objects.count() == MAX_TASKS


def test_a_task_that_a_process_works_on_does_not_wait():
    enqueue_task()
    OrmQ.objects.update(lock=timezone.now() + timedelta(minutes=10))
    assert not is_task_waiting()


def test_a_task_is_named_for_the_waiting_work():
    runs = [make_run() for _ in range(5)]

    enqueue_task()

    task = OrmQ.objects.get()
    assert task.name() == ", ".join([*(f"run {run.pk}" for run in runs[:4]), "more"])
    assert task.group() == "run"
