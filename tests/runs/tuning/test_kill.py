"""The real worker command, killed in the middle of a try."""

from contextlib import ExitStack

import pytest

from evalhub.models import BatchState, Call
from runs.tuning.attempt_control import counts, start_attempt
from runs.tuning.models import Attempt
from runs.tuning.start import draft_of
from tests.evalhub.work import processes
from tests.evalhub.work.processes import eventually
from tests.evalhub.work.test_kills import IN_FLIGHT, Site, freeze
from tests.factories import make_model
from tests.runs.tuning.rows import MIXED, scored, tuning_of

pytestmark = [pytest.mark.kill, pytest.mark.django_db(transaction=True)]

ASKED = 64


def test_a_killed_worker_loses_nothing_and_repeats_nothing_that_was_saved(tmp_path, database_url):
    with ExitStack() as stack:
        site = Site(tmp_path, database_url, stack)
        model = make_model(api_base=site.base_url, max_concurrency=IN_FLIGHT)
        tuning = tuning_of(scored(MIXED * (ASKED // len(MIXED)), model=model), seed=1)
        first = site.start(workers=1)
        attempt = start_attempt(tuning, draft_of(tuning, by=None), by=None)
        site.wait_for_calls(ASKED // 4)
        in_flight = freeze(site, first)
        for pid in processes.session(first.pid):
            processes.kill(pid)
        saved = set(attempt.judgments.filter(state="done").values_list("pk", "call"))
        assert 0 < len(saved) < ASKED

        site.start(workers=1)
        eventually(lambda: is_done(attempt), f"the end of the try in {site.log}", 60)
        assert counts(attempt)["done"] == ASKED
        assert saved <= set(attempt.judgments.values_list("pk", "call"))
        assert site.repeated() <= in_flight <= 2 * IN_FLIGHT
        assert Call.objects.filter(batch=attempt.work_key).count() == ASKED


def is_done(attempt: Attempt) -> bool:
    return Attempt.objects.get(pk=attempt.pk).state == BatchState.DONE
