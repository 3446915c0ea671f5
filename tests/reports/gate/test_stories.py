"""What releases went through, each by the command and through the API."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from evalhub.models import ItemState
from runs.judging.activation import activate_when_done
from runs.models import JudgeRun, Release, Result, Run, Suite
from tests.api import client_of
from tests.factories import make_issue, make_jury, make_model, make_tests, make_user
from tests.reports.gate.suites import PASS, run_tests, suite_of
from tests.reports.judged_runs import fail, finish, judge, judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def decide(capsys):
    """The gate's result, which the command and the API agree on."""

    def said(run):
        code = "0"
        try:
            call_command("gate", str(run.pk), "--format", "json")
        except SystemExit as left:
            code = str(left.code)
        by_command = json.loads(capsys.readouterr().out)
        by_api = client_of("viewer").post("/api/v1/gates/", {"run": run.pk}, format="json")
        assert by_api.json() == by_command
        assert by_api.headers["Gate-Exit"] == code
        return by_command

    return said


def line_of(result, rule):
    return next(line for line in result["rules"] if line["rule"] == rule)


def re_judge(remedy, run, votes):
    """Send what the gate offers, and let the judges give these votes."""
    response = client_of("maintainer").post(remedy["path"], remedy["body"], format="json")
    assert response.status_code == 201, response.json()
    judge_run = JudgeRun.objects.get(pk=response.json()["id"])
    judge(run, votes, judge_run=judge_run)
    finish(run)
    activate_when_done(judge_run.pk)


def test_the_same_answers_under_a_harsher_jury_are_no_regression(decide):
    march, _ = suite_of("p" * 20, "p" * 20)
    tests = run_tests(march)
    # The same answers, judged by another jury, which fails all of them.
    jury = make_jury(make_model())
    june = judged(*[[0.0]] * 20, tests=tests, suite=march.suite, label="June", jury=jury)

    result = decide(june)

    assert result["exit"] == 2
    comparable = line_of(result, "comparable")
    assert comparable["verdict"] == "cannot_tell"
    assert "ifferent juries" in comparable["sentence"]
    assert comparable["remedy"]["path"] == f"/api/v1/runs/{june.pk}/rejudge/"
    assert comparable["remedy"]["body"] == {"like": march.pk}
    assert line_of(result, "conclusion")["p"] is None
    assert result["flips"] == []

    # Re-judged by the baseline's jury, they pass as before.
    re_judge(comparable["remedy"], june, [PASS] * 20)

    result = decide(june)
    assert result["exit"] == 0
    assert line_of(result, "comparable")["verdict"] == "holds"
    assert line_of(result, "conclusion")["n"] == 20


def test_a_lenient_jury_hides_no_regression(decide):
    march, _ = suite_of("p" * 8, "p" * 8)
    jury = make_jury(make_model())
    june = judged(*[[1.0]] * 8, tests=run_tests(march), suite=march.suite, label="June", jury=jury)
    re_judge(line_of(decide(june), "comparable")["remedy"], june, [[0.0]] * 8)

    assert decide(june)["exit"] == 1


def test_each_remedy_has_a_page(decide, client):
    march, april = suite_of("p" * 10, "p" * 10)
    jury = make_jury(make_model())
    june = judged(*[[0.0]] * 10, tests=run_tests(march), suite=march.suite, label="June", jury=jury)
    fail(april, april.results.order_by("pk").first())
    client.force_login(make_user("maintainer"))

    lines = [line_of(decide(june), "comparable"), line_of(decide(april), "scored")]
    pages = [client.get(line["remedy"]["url"]).content.decode() for line in lines]

    assert "Re-judge" in pages[0]
    assert "March" in pages[0]
    assert "Retry" in pages[1]


def test_a_suite_of_one_issue_that_loses_all_its_tests_fails(decide):
    _, april = suite_of("p" * 30, "f" * 30, issue=make_issue())

    result = decide(april)

    assert result["exit"] == 1
    rule = line_of(result, "conclusion")
    assert rule["n"] == 30
    assert rule["p"] < 1e-6
    assert rule["method"] == "mid-p sign flips, by test"


def test_a_suite_of_five_issues_that_loses_all_its_tests_fails(decide):
    march, april = suite_of("p" * 20, "f" * 20)
    issues = [make_issue() for _ in range(5)]
    for number, test in enumerate(run_tests(march)):
        Result.objects.filter(test=test).update(issue=issues[number % 5])

    assert decide(april)["exit"] == 1


def test_a_suite_of_one_issue_that_stays_the_same_passes(decide):
    _, april = suite_of("p" * 30, "p" * 30, issue=make_issue())

    assert decide(april)["exit"] == 0


def test_four_errors_of_ten_say_retry_4_failed_and_are_retried(decide):
    _, april = suite_of("p" * 10, "p" * 10)
    for result in april.results.order_by("pk")[:4]:
        fail(april, result)

    result = decide(april)

    assert result["exit"] == 2
    scored = line_of(result, "scored")
    assert "6 of 10 results are scored (60%)" in scored["sentence"]
    assert "Retry 4 failed" in scored["sentence"]
    assert scored["remedy"]["path"] == f"/api/v1/runs/{april.pk}/retry_errors/"
    assert line_of(result, "conclusion")["verdict"] == "cannot_tell"
    assert client_of("maintainer").post(scored["remedy"]["path"]).status_code == 200
    assert Result.objects.filter(run=april, state=ItemState.PENDING).count() == 4


def test_a_model_that_loses_its_hard_tests_to_errors_does_not_pass(decide):
    # The baseline fails the last two of ten; the run has only errors there.
    _, april = suite_of("p" * 8 + "ff", "p" * 8 + "ff")
    for result in april.results.order_by("-pk")[:2]:
        fail(april, result)

    assert decide(april)["exit"] == 2


def test_a_suite_without_a_baseline_cannot_be_decided(decide):
    march, _ = suite_of("p" * 10, "p" * 10)
    march.suite.baselines.clear()

    result = decide(march)

    assert result["exit"] == 2
    assert result["against"] is None
    assert "no baseline" in line_of(result, "comparable")["sentence"]


def test_a_slow_slide_is_stopped_at_the_reference(decide):
    """Each release loses three tests more of as many issues, which no single step shows."""
    suite, model, tests = Suite.objects.create(name="Slide"), make_model(), make_tests(60)
    for n in range(6):
        votes = [[0.0]] * (3 * n) + [PASS] * (60 - 3 * n)
        fields = {"suite": suite, "model": model, "release": f"1.{n}"}
        run = judged(*votes, tests=tests, variant_key=str(model.pk), **fields)
        Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=6 - n))
    assert decide(run)["exit"] == 0

    suite.baseline_release = Release.objects.get(name="1.0")
    suite.save()
    result = decide(run)
    line = line_of(result, "against_reference")
    assert (result["exit"], line["verdict"]) == (1, "does_not_hold")
    assert line["sentence"].startswith("Look 5 of 20 at 1.0: Judges rate it worse: lost 15, won 0")
