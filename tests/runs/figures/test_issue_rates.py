"""Lists of issues name the run whose pass rates they show, and the viewer chooses its model."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState
from runs.comparison.baselines import pin
from runs.figures.issue_rates import (
    IssueRate,
    RateRun,
    models_with_runs,
    rate_run_of,
    rates_in,
)
from runs.models import Run
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.reports.judged_runs import answer, finish, judge
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def test():
    return make_test(issue=make_issue(title="Miscounts"))


@pytest.fixture
def suite(test):
    return make_suite(test)


@pytest.fixture
def run_of(test, suite):
    def made(model, score=1.0, **fields):
        return scored_run(suite, model, score, tests=[test], **fields)

    return made


def test_the_model_that_ran_last_changes_nothing(run_of):
    alpha, beta = make_model(name="alpha"), make_model(name="beta")
    first = run_of(alpha, days_ago=1)
    run_of(beta)

    assert rate_run_of(None).run == first
    assert rate_run_of(None).name == f"alpha, {first.label}"


def test_a_model_is_offered_from_its_first_run_on(run_of):
    alpha, beta = make_model(name="alpha"), make_model(name="beta")
    run_of(beta)
    before = list(models_with_runs())
    run_of(alpha)

    assert before == [beta]
    assert list(models_with_runs()) == [alpha, beta]


def test_the_baseline_is_shown_unless_a_model_without_it_is_chosen(run_of):
    alpha, beta = make_model(name="alpha"), make_model(name="beta")
    run_of(alpha, days_ago=1)
    newest = run_of(alpha)
    baseline = run_of(beta, days_ago=3)
    run_of(beta)
    pin(baseline)

    assert rate_run_of(None).run == rate_run_of(beta.pk).run == baseline
    assert rate_run_of(None).name == f"beta, {baseline.label} (baseline)"
    assert rate_run_of(alpha.pk).run == newest


def test_a_run_at_work_is_not_shown(run_of, subtests):
    alpha = make_model()
    ended, newer = run_of(alpha, days_ago=1), run_of(alpha)
    for state in sorted(set(BatchState) - {BatchState.DONE}):
        with subtests.test(state):
            Run.objects.filter(pk=newer.pk).update(state=state)
            assert rate_run_of(alpha.pk).run == ended


def test_an_incomplete_run_is_not_shown(run_of):
    alpha = make_model(name="alpha")
    run_of(alpha, None)

    assert rate_run_of(alpha.pk) == RateRun(alpha, None)
    assert rate_run_of(alpha.pk).name == "alpha, no complete run"


def test_a_run_under_another_jury_than_the_baseline_is_not_shown(suite, test):
    alpha, beta = make_model(name="alpha"), make_model(name="beta")
    strict, lenient = make_jury(make_model()), make_jury(make_model())

    def judged(model, jury):
        run = scored_run(suite, model, None, tests=[test], jury=jury)
        answer(run)
        judge(run, [[1]])
        finish(run)
        return run

    pin(judged(alpha, strict))
    comparable = judged(beta, strict)
    judged(beta, lenient)

    assert rate_run_of(beta.pk).run == comparable


def test_rates_say_how_much_is_scored(suite):
    issue = make_issue()
    tests = [make_test(issue=issue) for _ in range(20)]
    run = scored_run(suite, make_model(), *[1] * 18, 0, None, tests=tests)

    assert rates_in(run) == {issue.pk: IssueRate(18, 19, 20)}


def test_list_and_board_name_model_and_run_and_keep_the_choice(client, run_of):
    alpha, beta = make_model(name="alpha"), make_model(name="beta")
    pin(run_of(alpha))
    run = run_of(beta, 0.0)
    client.force_login(make_user("viewer"))

    for page in ("changelist", "board"):
        content = client.get(
            reverse(f"admin:issues_issue_{page}"), {"rate_model": beta.pk}
        ).content.decode()
        assert f"Pass rate of beta, {run.label}" in content
        assert "0% (0/1), 1/1 scored" in content
        assert f'value="{beta.pk}" selected' in content


def test_the_api_names_model_and_run(client, run_of, test):
    beta = make_model(name="beta")
    run = run_of(beta)
    client.force_login(make_user("viewer"))

    found = client.get("/api/v1/runs/issue_rates/", {"model": beta.pk}).json()

    assert (found["model"], found["run"], found["is_baseline"]) == (beta.pk, run.pk, False)
    assert found["rates"] == [{"issue": test.issue_id, "passed": 1, "scored": 1, "total": 1}]
