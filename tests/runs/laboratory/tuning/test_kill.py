"""The real worker command, killed in the middle of an attempt."""

import pytest

from evalhub.models import BatchState, Call
from evalhub.work.control import progress_of
from runs.laboratory.tuning.attempt_control import start_attempt
from runs.laboratory.tuning.models import Attempt
from runs.laboratory.tuning.start import draft_of
from tests.evalhub.work.processes import eventually, running
from tests.factories import make_model
from tests.provider import Provider
from tests.runs.laboratory.tuning.rows import MIXED, scored, tuning_of

pytestmark = [pytest.mark.kill, pytest.mark.django_db(transaction=True)]

ASKED, IN_FLIGHT = 64, 8


def test_a_killed_worker_loses_nothing_and_repeats_nothing_that_was_saved(tmp_path, database_url):
    def worker():
        environment = {"EVALHUB_ALLOWED_ADDRESSES": "127.0.0.1", "EVALHUB_LEASE_S": "4"}
        command = ("manage.py", "worker")
        return running(tmp_path / "log", *command, DATABASE_URL=database_url, **environment)

    with Provider(latency_ms=100) as provider:
        model = make_model(api_base=provider.base_url, max_concurrency=IN_FLIGHT)
        tuning = tuning_of(scored(MIXED * (ASKED // len(MIXED)), model=model), seed=1)
        with worker():
            attempt = start_attempt(tuning, draft_of(tuning, by=None), by=None)
            eventually(lambda: Call.objects.count() >= ASKED // 4, "the first calls")
        saved = set(attempt.judgments.filter(state="done").values_list("pk", "call"))
        assert 0 < len(saved) < ASKED

        with worker():
            eventually(lambda: is_done(attempt), "the end of the attempt")
    assert progress_of(attempt).counts["done"] == ASKED
    assert saved <= set(attempt.judgments.values_list("pk", "call"))
    assert provider.total - ASKED <= 2 * IN_FLIGHT
    assert Call.objects.filter(batch=attempt.work_key, error_kind="").count() == ASKED


def is_done(attempt: Attempt) -> bool:
    return Attempt.objects.get(pk=attempt.pk).state == BatchState.DONE
