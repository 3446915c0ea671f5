"""Re-judging a run with the jury of another: the same scale for both, and one step away."""

from decimal import Decimal

import pytest
from django.urls import reverse

from evalhub.models import BatchState, Call, CallRole
from evalhub.refusals import NotPossible
from runs.comparison.comparability import comparability_of, rejudge_url
from runs.launching.estimate import rejudge_estimate
from runs.lifecycle import control
from runs.models import JudgeRun
from tests.api import client_of
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.provider import verdict
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db

STRICT = "openai/strict"


def passed(run):
    return list(run.results.order_by("pk").values_list("passed", flat=True))


@pytest.fixture
def run_by(provider, model_at):
    """Makes a run by one judge; the strict one fails every answer, the other passes it."""

    def script(request):
        if "response_format" not in request:
            return "Four."
        return verdict(0 if request["model"] in STRICT else 1)

    provider.script = script
    return lambda tests, judge, **fields: make_run(
        *tests, model=model_at(), jury=make_jury(judge), **fields
    )


@pytest.mark.django_db(transaction=True)
def test_judged_alike_the_same_answers_get_the_same_scores(run_by, model_at, work):
    tests = [make_test("2 + 2?"), make_test("3 + 1?")]
    baseline, run = run_by(tests, model_at()), run_by(tests, model_at(litellm_model=STRICT))
    work()
    assert (passed(baseline), passed(run)) == ([True, True], [False, False])
    assert comparability_of(baseline, run).is_repairable

    control.rejudge_like(run, baseline, by=None)
    work()

    assert passed(run) == [True, True]
    assert comparability_of(baseline, run)
    assert Call.objects.filter(role=CallRole.CANDIDATE).count() == 4


@pytest.mark.django_db(transaction=True)
def test_the_judges_are_those_that_judged_the_baseline_not_as_they_are_now(run_by, model_at, work):
    tests, judge = [make_test()], model_at()
    baseline, run = run_by(tests, judge), run_by(tests, model_at())
    work()
    judge.params = {"temperature": 0.7}
    judge.save()

    control.rejudge_like(run, baseline, by=None)
    work()

    assert comparability_of(baseline, run)


@pytest.mark.django_db(transaction=True)
def test_once_judged_alike_no_call_is_made_twice(run_by, model_at, work, provider):
    tests = [make_test()]
    baseline, run = run_by(tests, model_at()), run_by(tests, model_at(litellm_model=STRICT))
    work()
    first = run.judge_runs.get()
    control.rejudge_like(run, baseline, by=None)
    work()
    other = run_by(tests, model_at(litellm_model=STRICT))
    work()
    n = provider.total
    first_like = control.rejudge_like(run, other, by=None)

    assert first_like == first
    assert passed(run) == [False]
    assert control.rejudge_like(run, baseline, by=None).is_active
    assert passed(run) == [True]
    work()
    assert provider.total == n


def test_a_judge_run_becomes_active_only_if_asked_when_it_is_done():
    run, baseline = judged_run(votes=[1]), judged_run(jury=make_jury(make_model()), votes=[1])

    judge_run = control.rejudge_like(run, baseline, by=None)

    assert (judge_run.is_active, judge_run.becomes_active) == (False, True)
    assert run.judge_runs.get(is_active=True).number == 1


def test_a_run_without_judges_or_with_a_retired_one_cannot_be_the_example():
    judge = make_model(name="Old judge")
    run, baseline = judged_run(votes=[1]), judged_run(jury=make_jury(judge), votes=[1])
    judge.is_active = False
    judge.save()

    for example, problem in ((make_run(), "has no jury"), (baseline, "Old judge")):
        with pytest.raises(NotPossible, match=problem):
            control.rejudge_like(run, example, by=None)


def test_the_api_takes_the_run_to_judge_like():
    run, baseline = judged_run(votes=[1]), judged_run(jury=make_jury(make_model()), votes=[1])
    client, url = client_of("maintainer"), f"/api/v1/runs/{run.pk}/rejudge/"

    both = client.post(url, {"like": baseline.pk, "jury": make_jury(make_model()).pk})
    made = client.post(url, {"like": baseline.pk})

    assert (both.status_code, made.status_code) == (400, 201)
    assert made.json()["becomes_active"]
    assert made.json()["whole_fingerprint"] == baseline.judge_runs.get().whole_fingerprint


def test_the_page_shows_jury_and_cost_and_starts_it(client):
    priced = {"input_usd_per_mtok": Decimal(100), "output_usd_per_mtok": Decimal(1000)}
    judge = make_model(name="Dear judge", **priced)
    run, baseline = judged_run(votes=[1]), judged_run(jury=make_jury(judge), votes=[1])
    client.force_login(make_user("maintainer"))
    url = rejudge_url(run.pk, baseline.pk)

    page = client.get(url).content.decode()
    assert "Dear judge" in page
    assert str(rejudge_estimate(run, baseline.judge_runs.get().jury)) in page
    assert "Estimate: 1 to 2 calls, $" in page
    assert JudgeRun.objects.filter(run=run).count() == 1

    answer = client.post(url)
    assert answer.url == run.get_absolute_url()
    assert JudgeRun.objects.get(run=run, number=2).state == BatchState.LIVE


def test_the_page_of_an_unknown_run_is_not_found(client):
    client.force_login(make_user("maintainer"))
    url = reverse("admin:runs_run_rejudge", args=[judged_run().pk])

    assert client.get(url).status_code == 404
