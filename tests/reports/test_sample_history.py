"""The demo's sample history: each planted finding is told by the reports about it, by no other."""

import pytest
from django.db import transaction
from django.urls import reverse

from issues.models import Issue
from reports.issue_proposals.proposals import proposals
from reports.models import ExecutiveSummary
from reports.registry import PAGES
from reports.summaries import sample
from runs.models import HumanEvaluation, Result, Run
from runs.sample_history import plan, writer
from tests.factories import make_user

AURORA, KELP, CLOVER, WREN = (
    f"{name} (sample)" for name in ("aurora-2", "kelp-4", "clover-70b", "wren-mini")
)
DATES = "Reads a numeric date in the wrong order"


@pytest.fixture(scope="module")
def user(django_db_setup, django_db_blocker):
    """The reader of a site with nothing but the history, which is written once for all tests."""
    with django_db_blocker.unblock(), transaction.atomic():
        user = make_user("superuser")
        writer.write_once(user)
        sample.write_once(user)
        yield user
        transaction.set_rollback(True)


@pytest.fixture
def report(user, db, client):
    """Return a report as scripts get it."""
    client.force_login(user)

    def read(name, **filters):
        answer = client.get(f"/api/v1/reports/{name}/", filters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return read


def run_of(model, release):
    return Run.objects.get(suite__source_id="sample-history:0", release=release, model_name=model)


def sentences(document):
    return " ".join(document["sentences"])


def test_reports_tell_the_planted_findings_and_no_others(report):
    _regression_and_drift(report)
    _one_issue_is_worse(report)
    _a_prompt_helps(report)
    _which_model_to_ship(report)
    _nothing_else_changes(report)
    _underperforming(report)
    _incomplete(report)
    _issues_follow_their_releases(report)
    _judges(report)


def _regression_and_drift(report):
    """Only the model that lost its mathematics is told to be worse, and to have drifted."""
    trend, drift = sentences(report("trend")), sentences(report("drift"))
    assert f"{AURORA} is significantly worse" in trend
    assert f"{AURORA} in Sample: all questions drifted: it fell" in drift
    assert report("drift")["facts"]["drifted"]["value"] == 1
    for model in (KELP, CLOVER, WREN):
        assert f"{model} is significantly" not in trend
        assert f"{model} in" not in drift
    assert f"Tags that fell significantly: Dates with {KELP}, −100 pts over 12 tests" in trend
    assert f"Math with {AURORA}" in trend
    assert f"with {CLOVER}" not in trend
    falls = report("trend")["tables"]["tag_changes"]["rows"]
    assert [row["change"] for row in falls] == sorted(row["change"] for row in falls)
    assert "−" in sentences(_against(report, AURORA, "1.3", "1.4"))


def _against(report, model, before, after):
    return report("compare", runs=[run_of(model, before).pk, run_of(model, after).pk])


def _one_issue_is_worse(report):
    compared = _against(report, KELP, "1.3", "1.4")
    assert "not enough evidence" in compared["sentences"][0]
    assert "1 issue worse, “Reads a numeric date in the wrong order”" in sentences(compared)
    worse = [row for row in compared["tables"]["issues"]["rows"] if "worse" in str(row)]
    assert DATES in str(worse[0])


def _which_model_to_ship(report):
    """The two that lead are not told apart; the others are worse, whatever they cost."""
    board = report("leaderboard")
    told = sentences(board)
    assert f"The data does not decide between {KELP} and {CLOVER}" in told
    assert f"{CLOVER} costs least" in told
    assert f"{KELP} answers fastest" in told
    assert board["facts"]["ranked"]["value"] == 4
    on = {row["name"]: row["frontier"] for row in board["tables"]["cost"]["rows"]}
    assert (on[AURORA], on[CLOVER]) == (None, "cost")


def _a_prompt_helps(report):
    assert "significantly better" in sentences(_against(report, CLOVER, "1.2", "1.3"))


def _nothing_else_changes(report):
    others = [(KELP, "1.1", "1.2"), (KELP, "1.2", "1.3"), (AURORA, "1.2", "1.3")]
    for model, before, after in [*others, (WREN, "1.2", "1.4"), (CLOVER, "1.3", "1.4")]:
        assert "not enough evidence" in _against(report, model, before, after)["sentences"][0]
    other_jury = _against(report, KELP, "1.0", "1.1")
    assert "p =" not in sentences(other_jury)


def _underperforming(report):
    kelp = report("underperforming", run=run_of(KELP, "1.4").pk)
    assert "1 of 21 issues underperforms" in sentences(kelp)
    assert DATES in str(kelp["tables"]["listed"]["rows"])
    never = Issue.objects.get(source_id=f"sample:{plan.HOPELESS}")
    assert never.title in str(kelp["tables"]["never"]["rows"])
    aurora = report("underperforming", run=run_of(AURORA, "1.3").pk)
    (listed,) = aurora["tables"]["listed"]["rows"]
    assert never.title in str(listed)


def _incomplete(report):
    lost = run_of(WREN, "1.3")
    assert Result.objects.filter(run=lost, state="error").count() == plan.LOST_ANSWERS
    for name in ("trend", "drift"):
        rows = report(name)["tables"]["incomplete"]["rows"]
        assert len(rows) == 1
        assert WREN in str(rows[0])


def _issues_follow_their_releases(report):
    repaired, reopened = (
        Issue.objects.get(source_id=f"sample:{key}") for key in (plan.REPAIRED, plan.REOPENED)
    )
    assert "Its runs suggest resolving it." in sentences(
        report("issue_timeline", issue=repaired.pk)
    )
    again = sentences(report("issue_timeline", issue=reopened.pk))
    assert "Its runs suggest reopening it." in again
    assert "release 1.4" in again
    assert {(one.issue, one.act) for one in proposals()} == {
        (repaired.pk, "resolve"),
        (reopened.pk, "reopen"),
    }


def _judges(report):
    rows = report("judge_reliability", tab="judges")["tables"]["judge_concerns"]["rows"]
    unreliable = [row["name"]["text"] for row in rows if row["trust"] == "unreliable"]
    assert unreliable == ["Sample: three judges", "arbiter-c (sample)"]
    reviews = HumanEvaluation.objects.filter(result__run=run_of(KELP, "1.4"))
    assert reviews.count() > plan.REVIEWED
    assert Result.objects.filter(is_disputed=True).count() == 1
    summary = ExecutiveSummary.objects.get()
    assert summary.is_scripted
    assert summary.runs.count() == 4


MB = 1_000_000


def test_files_of_every_report_are_small_and_say_where_they_come_from(report, client):
    for page in PAGES:
        url = reverse(f"reports:{page.key}_download", args=["html"])
        html = client.get(url).content
        assert len(html) < MB, page.key
        assert b"EvalHub, http://testserver" in html
        assert f"http://testserver{reverse(f'reports:{page.key}')}".encode() in html
    assert b"<svg" in client.get(reverse("reports:trend_download", args=["html"])).content
    whole = client.get(reverse("reports:trend_download", args=["html"]), {"charts": "interactive"})
    assert len(whole.content) > 4 * MB


def test_a_comparison_names_both_runs_wherever_it_goes(report, client):
    first, second = run_of(KELP, "1.3"), run_of(AURORA, "1.4")
    asked = {"runs": [first.pk, second.pk]}
    for ending in ("html", "md", "json", "csv"):
        file = client.get(reverse("reports:compare_download", args=[ending]), asked)
        text = file.getvalue().decode()
        assert KELP in text.replace("\\", "")
        assert AURORA in text.replace("\\", "")
        assert "testserver" in text
        name = file["Content-Disposition"]
        assert f"run-{first.pk}-kelp-4" in name
        assert f"run-{second.pk}-aurora-2" in name


def test_files_of_a_run_name_its_model_and_lead_back(report, client):
    run = run_of(AURORA, "1.4")
    names = ("html", "markdown", "csv", "json", "junit", "judgments_csv")
    for name in names:
        file = client.get(reverse(f"reports:run_{name}", args=[run.pk]))
        text = file.getvalue().decode()
        assert len(text) < MB
        assert AURORA in text.replace("\\", "")
        assert f"http://testserver{run.get_absolute_url()}" in text
        assert f"run-{run.pk}-aurora-2" in file["Content-Disposition"]
