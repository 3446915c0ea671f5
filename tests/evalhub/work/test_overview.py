"""The page *Workers and queue*."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from evalhub.values import clock
from evalhub.work import leases, overview
from evalhub.work.kinds import kinds
from evalhub.work.models import LEASE_S, FinishedTask, Worker
from evalhub.work.processes.queue import enqueue_task
from tests.factories import make_model, make_run, make_test, make_user

pytestmark = pytest.mark.django_db
ANSWERING = kinds()[0]


def finished(name, *, succeeded, detail):
    now = timezone.now()
    queued = now - timedelta(seconds=2)
    FinishedTask.objects.create(
        name=name, queued_at=queued, ended_at=now, succeeded=succeeded, detail=detail
    )


@pytest.fixture
def page(client):
    client.force_login(make_user("maintainer"))
    return lambda: client.get(reverse("admin:evalhub_worker_queue"))


def test_page_is_there_when_nothing_happens(page):
    assert page().content.decode().count("eh-empty") == 5


def test_page_shows_everything(page):
    run, worker = make_run(make_test("a"), make_test("b")), leases.register()
    leases.claim(ANSWERING, run.pk, worker, 1, alone=True)
    enqueue_task()
    finished("run 7", succeeded=False, detail="ValueError: <on purpose>")

    html = page().content.decode()

    assert f'data-worker="{worker.pk}"' in html
    assert f'data-batch="run {run.pk}"' in html
    assert "ValueError: &lt;on purpose&gt;" in html
    assert "eh-empty" in html  # no dead workers


def test_a_worker_is_shown_with_its_items_and_models():
    run, worker, model = make_run(make_test("a"), make_test("b")), leases.register(), make_model()
    leases.claim(ANSWERING, run.pk, worker, 2, alone=True)
    leases.beat(worker, clock.now(), {str(model.pk): {}})

    (found,) = overview.running_workers()

    assert (found.is_responding, found.items) == (True, {f"run {run.pk}": 2})
    assert found.models == [model.name]


def test_a_worker_without_heartbeat_is_not_responding():
    worker = leases.register()
    Worker.objects.filter(pk=worker.pk).update(beat_at=clock.ago(LEASE_S + 1))
    assert [found.is_responding for found in overview.running_workers()] == [False]


def test_only_workers_that_died_are_dead():
    died, ended = leases.register(), leases.register()
    leases.free([died])
    Worker.objects.filter(pk=ended.pk).update(stopped_at=None)
    leases.sign_off(ended, {})
    Worker.objects.filter(pk=died.pk).update(beat_at=clock.ago(LEASE_S + 1))

    assert list(overview.dead_workers()) == [died]


def test_tasks_are_waiting_or_taken():
    enqueue_task()
    enqueue_task()
    newest = OrmQ.objects.latest("pk")
    OrmQ.objects.filter(pk=newest.pk).update(lock=timezone.now() + timedelta(hours=1))

    assert [task.is_taken for task in overview.queued_tasks()] == [False, True]


def test_a_task_signed_with_another_key_is_shown_too():
    enqueue_task()
    OrmQ.objects.update(payload="forged:signature")
    assert [task.queued_at for task in overview.queued_tasks()] == [None]


def test_a_live_batch_is_shown_with_its_progress():
    run = make_run(make_test("a"), make_test("b"))
    found = next(overview.live_batches())
    assert (found.name, found.total, found.items["pending"]) == (f"run {run.pk}", 2, 2)
    assert found.url
