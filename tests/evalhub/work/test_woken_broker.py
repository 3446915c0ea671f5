"""Redis wakes workers and holds no work: without it, they find the same work by themselves."""

import threading

import pytest
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import OrmQ

from evalhub.settings import Q_CLUSTER
from evalhub.work.processes import woken_broker
from evalhub.work.processes.queue import MAX_TASKS, enqueue_task
from evalhub.work.processes.queue_worker import Stop, drain, next_task
from evalhub.work.processes.reaper import Reaper
from evalhub.work.processes.woken_broker import Signs, WokenBroker
from runs.models import Run
from tests import redis_server
from tests.factories import make_run, make_test
from tests.runs.conftest import model_at, provider  # noqa: F401


@pytest.fixture
def redis(monkeypatch):
    """A Redis of this test, which the queue uses as EVALHUB_REDIS_URL lets it."""
    with redis_server.server() as (url, process):
        path = f"{WokenBroker.__module__}.{WokenBroker.__name__}"
        for name, value in {"REDIS": url, "BROKER_CLASS": path, "POLL": 0}.items():
            monkeypatch.setattr(Conf, name, value)
        monkeypatch.setattr(woken_broker, "_down_until", 0.0)
        monkeypatch.setattr(woken_broker, "LOOK_S", 0.01)
        yield process


def lose(redis):
    redis.kill()
    redis.wait()


@pytest.mark.django_db(transaction=True)
def test_a_queued_task_wakes_who_waits_in_redis(redis):
    signs = Signs(Conf.CLUSTER_NAME)
    signs.connection.connection_pool.connection_kwargs["socket_timeout"] = None
    waiting = threading.Thread(target=signs.connection.blpop, args=(signs.list_key, 0))
    waiting.start()

    enqueue_task()

    waiting.join()  # for ever, were there no sign
    assert next_task(get_broker(), lambda _: None) is not None


@pytest.mark.django_db
def test_no_more_signs_are_kept_than_tasks_may_wait(redis):
    for _ in range(3 * MAX_TASKS):
        OrmQ.objects.all().delete()
        enqueue_task()

    assert Signs(Conf.CLUSTER_NAME).queue_size() == MAX_TASKS


@pytest.mark.django_db(transaction=True)
def test_a_run_ends_where_redis_is_lost_before_it_starts(redis, model_at):  # noqa: F811
    lose(redis)
    run = make_run(make_test(), make_test(), model=model_at())
    assert not OrmQ.objects.exists()

    Reaper([0], [0]).ask_for_worker(0.0)
    assert drain(Stop())

    assert Run.objects.get(pk=run.pk).results.filter(answer__isnull=False).count() == 2


@pytest.mark.django_db
def test_a_lost_redis_is_asked_no_more_for_a_while(redis, caplog):
    lose(redis)

    for _ in range(3):
        enqueue_task()
        assert next_task(get_broker(), lambda _: None) is not None
        next_task(get_broker(), lambda _: None)

    assert caplog.text.count("Redis does not answer") == 1


def test_without_an_address_the_database_is_the_queue():
    assert "broker_class" not in Q_CLUSTER
