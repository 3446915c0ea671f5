"""Whoever can write the tables of django-q2 runs no code: neither by pickles nor by hooks."""

import os
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ, Schedule, Task
from django_q.signing import SignedPackage
from picklefield.fields import dbsafe_encode

from evalhub.operations.database_copy import tables
from evalhub.work.models import FinishedTask
from evalhub.work.processes import reaper
from evalhub.work.processes.queue import enqueue_task
from evalhub.work.processes.queue_worker import Stop, drain, next_task, perform
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

PLACE = "PLANTED"


class Harm:
    def __reduce__(self) -> Any:
        return os.mkdir, (os.environ[PLACE],)


def hook(task: Task) -> None:
    os.mkdir(os.environ[PLACE])


@pytest.fixture
def harm(tmp_path, monkeypatch):
    """The folder that any planted code would make, with code planted in every table."""
    folder = tmp_path / "harm"
    monkeypatch.setenv(PLACE, str(folder))
    enqueue_task()
    now, named = timezone.now(), f"{__name__}.hook"
    queued = OrmQ.objects.get().task
    planted = str(dbsafe_encode(Harm(), copy=False))
    row = {"name": queued["name"], "func": named, "hook": named, "started": now, "stopped": now}
    Task.objects.bulk_create(  # the first is as of the task that waits
        [Task(id=queued["id"], success=False, **row), Task(id="other", success=True, **row)]
    )
    with connection.cursor() as cursor:
        for column in ("args", "kwargs", "result"):
            cursor.execute(f"UPDATE django_q_task SET {column} = %s", [planted])
    due = now - timedelta(minutes=5)
    Schedule.objects.create(func=named, hook=named, next_run=due)
    OrmQ.objects.create(key="evalhub", payload=forged(), lock=due)
    return folder


def forged() -> str:
    """A package with a harmful pickle whose signature is not ours."""
    genuine: str = SignedPackage.dumps({"func": Harm()})
    return genuine[:-4] + ("AAAA" if genuine[-4:] != "AAAA" else "BBBB")


def test_the_planted_code_would_run(harm):
    list(Task.objects.only("result"))
    assert harm.exists()


def test_workers_run_nothing_planted(harm):
    task = next_task(get_broker(), lambda _: None)
    assert task is not None
    perform({**task, "func": "os.getpid"}, get_broker(), lambda _: None)
    drain(Stop())
    reaper.every_minute()

    assert FinishedTask.objects.count() >= 1
    assert not OrmQ.objects.exists()
    assert not harm.exists()


def test_pages_and_commands_load_nothing_planted(harm, client, settings):
    settings.EVALHUB_METRICS_TOKEN = "a scraper's token, long enough"
    client.force_login(make_user("superuser"))
    for page in ("admin:index", "admin:evalhub_worker_queue", "admin:evalhub_worker_changelist"):
        assert client.get(reverse(page)).status_code == 200
    token = {"authorization": f"Bearer {settings.EVALHUB_METRICS_TOKEN}"}
    assert client.get("/metrics", headers=token).status_code == 200
    with suppress(SystemExit):  # it finds that no worker runs
        call_command("doctor", json=True)

    assert Task not in tables()
    assert not harm.exists()
