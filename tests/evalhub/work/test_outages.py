"""Providers that are down: their calls wait, and the run goes on by itself."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState, ItemState, SharedRate, Worker
from evalhub.work.limits import shared_rate
from runs.models import Judgment
from tests import provider as scripted
from tests.evalhub.work.processes import eventually
from tests.evalhub.work.test_loop import is_judge, slowly, some_tests, states
from tests.factories import make_jury, make_run
from tests.provider import prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def short_pause(monkeypatch):
    monkeypatch.setattr("evalhub.work.limits.shared_rate.PROBE_S", 0.2)
    monkeypatch.setattr("evalhub.work.calls.caller.PROBE_S", 0.2)


def is_down(model):
    return SharedRate.objects.filter(language_model=model, down_since__isnull=False).exists()


def all_know_of_outage(model):
    since = SharedRate.objects.get(language_model=model).down_since
    return not Worker.objects.filter(stopped_at=None, beat_at__lte=since).exists()


@pytest.mark.parametrize(
    "failure", [scripted.SERVER_ERROR, scripted.RESET, scripted.HTML_PAGE, scripted.TRUNCATED]
)
def test_outage_makes_a_run_longer_and_no_errors(provider, model_at, start, failure):
    provider.script = lambda request: failure
    model = model_at(max_concurrency=4)
    run = make_run(*some_tests(12), model=model)
    worker = start()
    eventually(lambda: is_down(model), "the outage")
    eventually(lambda: provider.in_flight == 0, "the last call")
    tried = provider.total
    provider.script = lambda request: "Four."
    worker.end()

    assert states(run) == {ItemState.DONE}
    assert not is_down(model)
    assert tried <= 12 * 5
    run.refresh_from_db()
    assert run.state == BatchState.DONE


def test_one_call_at_a_time_tries_a_provider_that_is_down(provider, model_at, start):
    provider.script = lambda request: scripted.SERVER_ERROR
    model = model_at(max_concurrency=4)
    make_run(*some_tests(20), model=model)
    one, two = start(), start()
    eventually(lambda: is_down(model), "the outage")
    eventually(lambda: all_know_of_outage(model), "news of the outage")
    eventually(lambda: provider.in_flight == 0, "the last call")
    before = provider.total
    provider.max_in_flight = 0
    eventually(lambda: provider.total >= before + 4, "more tries")
    assert provider.max_in_flight == 1
    one.stop(), two.stop()


def test_judge_that_is_down_keeps_no_answer_and_no_other_judge_waiting(provider, model_at, start):
    down, well = model_at(), model_at()
    is_well = False

    def script(request):
        if not is_judge(request):
            return "Four."
        failing = request["model"] in down.litellm_model and not is_well
        return scripted.SERVER_ERROR if failing else verdict(1)

    provider.script = script
    run = make_run(*some_tests(8), model=model_at(), jury=make_jury(down, well))
    worker = start()
    eventually(lambda: is_down(down), "the outage")
    eventually(lambda: Judgment.objects.filter(state="ok").count() == 8, "the other judge")
    assert states(run) == {ItemState.DONE}
    is_well = True
    worker.end()

    assert Judgment.objects.filter(state="ok").count() == 16
    assert not Judgment.objects.exclude(state="ok").exists()


def test_test_that_always_fails_is_an_error_and_no_outage(provider, model_at, work):
    """While others succeed, and also when it is the last one."""
    provider.script = lambda r: scripted.SERVER_ERROR if "Bad" in prompt(r) else "Four."
    slowly(provider, 0.01)
    run = make_run(*some_tests(20), *some_tests(1, "Bad"), model=model_at(max_concurrency=3))
    alone = make_run(*some_tests(2, "Bad"), model=model_at())

    work()

    assert sorted(run.results.values_list("state", flat=True)) == ["done"] * 20 + ["error"]
    assert states(alone) == {ItemState.ERROR}
    assert not SharedRate.objects.filter(down_since__isnull=False).exists()


def test_pages_say_what_is_waited_for(admin_client, model_at):
    called, other = model_at(name="Called"), model_at(name="Other")
    run = make_run(model=called)
    for model in (called, other):
        shared_rate.note_outage(model.pk, "It has a fault (status 500).")

    page = admin_client.get(run.get_absolute_url()).content.decode()
    assert "Called is down" in page
    assert "status 500" in page
    assert "Other is down" not in page
    assert (
        "Other is down" in admin_client.get(reverse("admin:evalhub_worker_queue")).content.decode()
    )
