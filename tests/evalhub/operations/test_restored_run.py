"""A backup from the middle of a run, restored elsewhere: only what it lacks is asked for again."""

import os
import subprocess
import sys
from itertools import count

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from evalhub.models import BatchState
from evalhub.work.processes.queue import request_worker
from runs.models import Answer, Judgment, JudgmentState, Run
from tests import factories
from tests.evalhub.operations.conftest import connected_to
from tests.evalhub.work.processes import eventually, running
from tests.provider import Provider

TESTS, WIDTH = 40, 8
CALLS = 2 * TESTS
"""Each answer is judged once."""


def url_of(name):
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    database = connection.settings_dict | {"NAME": name}
    place = "{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database)
    return f"postgres://{place}"


def manage(*command, url):
    environment = os.environ | {"DATABASE_URL": url}
    whole = [sys.executable, "manage.py", *command]
    subprocess.run(whole, cwd=settings.BASE_DIR, env=environment, check=True)


def launch(provider):
    candidate, judge = (
        factories.make_model(
            name=name,
            litellm_model=f"openai/{name}",
            api_base=provider.base_url,
            max_concurrency=WIDTH,
        )
        for name in ("candidate", "judge")
    )
    issue, template = factories.make_issue(), factories.make_template()
    tests = [
        factories.make_test(f"What is {n} + 2?", issue=issue, template=template)
        for n in range(TESTS)
    ]
    return factories.make_run(*tests, model=candidate, jury=factories.make_jury(judge))


def is_over(run):
    states = {Run.objects.get(pk=run.pk).state, run.judge_runs.get().state}
    return states == {BatchState.DONE}


def saved():
    """The calls whose answer or judgment is in the database."""
    return Answer.objects.count() + Judgment.objects.exclude(state=JudgmentState.FAILED).count()


@pytest.mark.kill
@pytest.mark.both_engines
def test_calls_needed_are_calls_made(tmp_path, database_url, empty_database):
    file, other = str(tmp_path / "backup"), url_of(empty_database)
    pace = {"ms": 1500}  # so slow that the run is not over before the backup
    with Provider(latency_ms=(pace["ms"] for _ in count())) as provider:
        run = launch(provider)
        request_worker()
        with worker(tmp_path, database_url):
            eventually(lambda: saved() >= CALLS // 4, "a quarter of the run")
            call_command("backup", file)
            assert not is_over(run)
        pace["ms"] = 0

        manage("restore", file, url=other)
        with connected_to(empty_database):
            needed = CALLS - saved()
            provider.clear()
            with worker(tmp_path, other):
                eventually(lambda: is_over(run), "the end of the restored run")
            assert saved() == CALLS
    assert 0 < needed < CALLS
    assert (provider.total, max(provider.counts.values())) == (needed, 1)


def worker(folder, url):
    allowed = {"EVALHUB_ALLOWED_ADDRESSES": "127.0.0.1"}
    return running(folder / "log", "manage.py", "worker", DATABASE_URL=url, **allowed)
