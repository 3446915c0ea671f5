"""The demo's sample history: each planted finding is told by the reports about it, by no other."""

import re
from itertools import pairwise

import pytest
from django.http import QueryDict
from django.urls import reverse

from issues.models import Issue
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import proposals
from reports.models import ExecutiveSummary
from reports.registry import PAGES, page_of
from reports.summaries import sample
from runs.demo import plan, writer
from runs.models import HumanEvaluation, Result, Run
from tests.factories import make_user
from tests.shared_data import shared_data

AURORA, KELP, CLOVER, WREN = (
    f"{name} (sample)" for name in ("aurora-2", "kelp-4", "clover-70b", "wren-mini")
)
DATES = "Reads a numeric date in the wrong order"


@shared_data
def user():
    """The reader of a site with nothing but the history."""
    user = make_user("superuser")
    writer.write_once(user)
    sample.write_once(user)
    return user


@pytest.fixture
def report(user, client):
    """Return a report as scripts get it."""
    client.force_login(user)

    def read(name, **filters):
        answer = client.get(f"/api/v1/reports/{name}/", filters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return read


def run_of(model, release):
    return Run.objects.get(suite__source_id="sample-history:0", release=release, model_name=model)


def issue(key):
    return Issue.objects.get(source_id=f"sample:{key}")


def sentences(document):
    return " ".join(document["sentences"])


@pytest.fixture
def compare(report):
    """Return the comparison of a model's runs in two releases."""

    def between(model, before, after):
        return report("compare", runs=[run_of(model, before).pk, run_of(model, after).pk])

    return between


# A manager's questions ----------------------------------------------------------------------------

STATISTICS = re.compile(
    r"\bp [=<≤]|Holm|Wilson|McNemar|\bkappa\b|\balpha\b|significan|interval|sign flips|permutation"
)
ANSWERS = {
    "releases": (
        f"Judges rate {AURORA} and {KELP} worse; cannot tell about {CLOVER}.",
        f"{KELP}: judges rate it worse: lost 12, won 6 of the same 72 "
        f"tests. Lost for sure: “{DATES}” (12 of 12).",
        "Release 1.4 cost $0.17 in 24 runs; what 1.3 ran, too, cost $0.088, before $0.093.",
    ),
    "trend": (f"Tags that surely fell: Dates with {KELP}, lost 12, won 0 of 12 tests",),
    "leaderboard": (f"The data does not decide between {CLOVER} and {KELP}: {CLOVER} costs least",),
    "judge_reliability": (
        "Only with people’s checks: they agree with 382 of 384 verdicts of Sample: three judges",
    ),
    "overrides": ("494 results reviewed by annotators: 478 confirmed, 15 overturned",),
    "activity": ("Release 1.4 was tested: 24 runs of 4 models; 4 verdicts overturned; 1 resolved",),
    "heatmap": (
        f"{KELP}: 56 of 72 answers pass, all of them in 18 of 21 issues, fewest in “{DATES}",
    ),
    "underperforming": ("Do this first: “Invents a current list",),
}
"""The beginnings of the sentences with which reports answer, by report."""


def test_reports_answer_first_and_without_statistics(user, subtests):
    for key, answers in ANSWERS.items():
        page = page_of(key)
        document = page.build(page.form(QueryDict("")).filters, Reading(user))
        said = document.leading_sentences
        with subtests.test(key):
            assert not [one for one in said if STATISTICS.search(one)]
            for answer in answers:
                assert any(one.startswith(answer) for one in said), said


# What got better or worse -------------------------------------------------------------------------


def test_the_trend_names_only_the_model_that_lost_its_mathematics(report):
    trend = sentences(report("trend"))

    assert f"{AURORA} since its previous run: judges rate it worse" in trend
    assert f"Math with {AURORA}" in trend
    assert f"Tags that surely fell: Dates with {KELP}, lost 12, won 0 of 12 tests" in trend
    assert f"with {CLOVER}" not in trend
    for model in (KELP, CLOVER, WREN):
        assert f"{model}: judges rate it better" not in trend


def test_tags_are_listed_by_their_fall(report):
    rows = report("trend")["tables"]["tag_changes"]["rows"]

    assert [row["change"] for row in rows] == sorted(row["change"] for row in rows)


def test_a_change_between_releases_is_no_drift(report):
    drift = report("drift")

    assert drift["facts"]["drifted"]["value"] == 0
    assert "drifted: it" not in sentences(drift)


def test_compare_tells_the_fall_of_a_model(compare):
    assert "−" in sentences(compare(AURORA, "1.3", "1.4"))


def test_compare_names_the_issue_that_is_worse_where_the_whole_is_not(compare):
    document = compare(KELP, "1.3", "1.4")
    worse = [row for row in document["tables"]["issues"]["rows"] if "worse" in str(row)]

    assert "Judges rate it worse: lost 12, won 6 of" in document["sentences"][0]
    assert f"Lost for sure: “{DATES}” (12 of 12)" in sentences(document)
    assert DATES in str(worse[0])


def test_compare_tells_that_a_prompt_helped(compare):
    assert "Judges rate it better" in sentences(compare(CLOVER, "1.2", "1.3"))


def test_nothing_else_changed(compare, subtests):
    releases = {KELP: ("1.1", "1.2", "1.3"), AURORA: ("1.2", "1.3"), WREN: ("1.2", "1.4")}
    for model, given in (releases | {CLOVER: ("1.3", "1.4")}).items():
        for before, after in pairwise(given):
            with subtests.test(model, before=before, after=after):
                said = compare(model, before, after)["sentences"][0]
                assert said.startswith(("Cannot tell", "No outcome changed"))


def test_nothing_is_concluded_across_juries(compare):
    assert "p =" not in sentences(compare(KELP, "1.0", "1.1"))


# Which model to ship ------------------------------------------------------------------------------


def test_the_leaderboard_does_not_decide_between_the_two_that_lead(report):
    board = report("leaderboard")

    assert board["facts"]["ranked"]["value"] == 4
    assert f"The data does not decide between {CLOVER} and {KELP}" in sentences(board)
    assert f"{CLOVER} costs least" in sentences(board)
    assert f"{KELP} answers fastest" in sentences(board)
    frontier = {row["name"]: row["frontier"] for row in board["tables"]["cost"]["rows"]}
    assert (frontier[AURORA], frontier[CLOVER]) == (None, "cost, latency")


# What fails ---------------------------------------------------------------------------------------


def test_what_to_work_on_next_is_said_first(report):
    found = report("underperforming")
    rows = found["tables"]["listed"]["rows"]

    assert sentences(found).startswith("Do this first: “")
    assert all(title in str(rows) for title in (DATES, issue(plan.HOPELESS).title))


def test_an_issue_that_passes_needs_more_tests_and_one_that_returned_is_to_be_reopened(report):
    repaired, returned = (
        sentences(report("issue_timeline", issue=issue(key).pk))
        for key in (plan.REPAIRED, plan.REOPENED)
    )
    assert "its 3 questions pass; 26 more would show it" in repaired
    assert "Its runs suggest reopening it." in returned
    assert "release 1.4" in returned


def test_no_other_issue_is_proposed(user):
    assert [(one.issue, one.act) for one in proposals()] == [
        (issue(plan.REOPENED).pk, "reopen"),
    ]


# What to trust ------------------------------------------------------------------------------------


def test_the_incomplete_run_is_left_out_and_listed(report):
    lost = Result.objects.filter(run=run_of(WREN, "1.3"), state="error")
    assert lost.count() == plan.LOST_ANSWERS
    for name in ("trend", "drift"):
        (row,) = report(name)["tables"]["incomplete"]["rows"]
        assert WREN in str(row)


def test_one_judge_and_its_jury_are_unreliable(report):
    rows = report("judge_reliability", tab="judges")["tables"]["judge_concerns"]["rows"]
    unreliable = [row["name"]["text"] for row in rows if row["trust"] == "unreliable"]

    assert unreliable == ["Sample: three judges", "arbiter-c (sample)"]


def test_the_newest_run_has_reviews_a_dispute_and_a_summary(user):
    reviews = HumanEvaluation.objects.filter(result__run=run_of(KELP, "1.4"))
    summary = ExecutiveSummary.objects.get()

    assert reviews.count() > plan.REVIEWED
    assert Result.objects.filter(is_disputed=True).count() == 1
    assert summary.is_scripted
    assert summary.runs.count() == 4


# Files --------------------------------------------------------------------------------------------

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
        assert f"run-{first.pk}-to-run-{second.pk}-kelp-4" in name
        assert "aurora-2" in name


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
