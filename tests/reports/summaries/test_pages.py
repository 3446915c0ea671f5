"""The pages of executive summaries, and their answers to programs."""

import json

import pytest
from django.urls import reverse

from evalhub.models import BatchState
from evalhub.statistics.changes.net_change import METHOD
from reports.models import ExecutiveSummary, Grade
from reports.summaries.query import summary_lines
from reports.summaries.requests import ask_summary
from tests.api import client_of
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, finish, judge
from tests.reports.summaries.builders import make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def tests():
    return [make_test("What is 2 + 2?"), make_test("What is 3 + 3?")]


@pytest.fixture
def runs(tests):
    made, jury = [], make_jury(make_model())
    for name, votes in (("Alpha One", [[1.0], [0.0]]), ("Beta Two", [[1.0], [1.0]])):
        run = make_run(*tests, model=make_model(name=name), jury=jury)
        answer(run, f"I am {name}.")
        judge(run, votes)
        finish(run)
        made.append(run)
    return made


def page(client, name, *args, role="viewer", **query):
    client.force_login(make_user(role))
    return client.get(reverse(f"reports:{name}", args=args), query)


def text(response):
    assert response.status_code == 200
    return response.content.decode()


# The list ----------------------------------------------------------------------------------------


def test_without_a_summary_the_list_says_what_to_do(client):
    assert "No executive summary yet" in text(page(client, "summaries"))
    assert "Request a summary" in text(page(client, "summaries", role="maintainer"))


def test_the_list_of_a_run_has_its_summaries_only(client, runs, django_assert_num_queries):
    for name, some in (("of both", runs), ("of the first", runs[:1]), ("also", runs)):
        make_summary(some, name=name)
    shown = text(page(client, "summaries", run=runs[1].pk))
    assert "of both" in shown
    assert "of the first" not in shown
    with django_assert_num_queries(6):
        assert len(list(summary_lines(1, may_ask=True).object_list)) == 3


def test_the_list_tells_what_waits_what_failed_and_what_is_done(client, runs):
    make_summary(runs)
    make_summary(runs, error_kind="unusable_reply", reply="no")
    waiting = make_run(make_test())
    ask_summary([waiting], analyst=make_model(), by=None)
    ask_summary(runs, analyst=make_model(), by=None)
    shown = [row.state.word for row in summary_lines(1, may_ask=False).object_list]
    assert shown == ["running", "waiting", "failed", "done"]
    assert "No worker is running" in text(page(client, "summaries"))


# One summary -------------------------------------------------------------------------------------


def test_the_page_has_names_figures_marks_and_grades(client, runs):
    shown = text(page(client, "summary", make_summary(runs).pk))
    for run in runs:
        assert f'<a href="/reports/runs/{run.pk}/">{run.model_name}</a>' in shown
    assert "MD_1</code>" in shown  # nobody is so called
    assert f'<a href="/admin/issues/test/{runs[0].results.last().test_id}/change/">test' in shown
    assert f"{runs[0].model_name}</a> (1 of 2 passed)</span>" in shown
    assert "95 % interval" in shown
    assert (
        "(\u221250.0 points: 50.0 % of 2 against 100.0 % of 2; p = 0.500, "
        f"{METHOD} on 2 tests, corrected for 1 possible comparison)" in shown
    )
    assert ">83 %</mark>" in shown
    assert "says 83; the table says 100.0 %." in shown
    assert "<strong>1 unsupported sentence</strong>" in shown
    assert 'style="--heat: 11%" title="Because clarity matters.">2</td>' in shown
    assert "N/A" in shown
    assert "Alpha One 2×" in shown
    assert "All 2 tests were sent whole." in shown
    assert "A grade is for MD_1, and no model is so called." in shown
    assert "mental-arithmetic" in shown


def test_the_page_files_and_programs_agree(client, runs):
    summary = make_summary(runs)
    client.force_login(make_user("viewer"))

    def file(ending):
        url = reverse("reports:summary_download", args=[summary.pk, ending])
        response = client.get(url, {"table": "grades"})
        return b"".join(response if response.streaming else [response.content]).decode()

    told = client.get(f"/api/v1/summaries/{summary.pk}/").json()
    tables = json.loads(file("json"))["tables"]
    claims = [claim for one in told["texts"] for claim in one["claims"]]
    rows = tables["claims"]["rows"]
    assert [claim["model"] for claim in claims] == [row["model"] for row in rows]
    assert [claim["figure"] for claim in claims] == [1, -50, 100]
    assert [row["figure"] for row in rows] == ["1", "\u221250.0 points", "100.0 %"]
    assert claims[1]["method"] == rows[1]["method"] == METHOD
    assert claims[1]["p"] == rows[1]["p"] == 0.5
    assert [bool(claim["problem"]) for claim in claims] == [False, False, True]
    assert [one["unsupported"] for one in told["texts"]] == [0, 0, 1, 0, 0, 0]
    grades = {row["model"]: row for row in tables["grades"]["rows"]}
    for grade in told["grades"]:
        assert grades[grade["model_name"]][grade["dimension"]] == grade["grade"]
    assert len(told["grades"]) == Grade.objects.count() == 8
    for ending in ("csv", "md", "html"):
        assert all(run.model_name in file(ending) for run in runs)
    assert "Sums go wrong for Alpha One (1 of 2 passed)." in file("md")
    (exchange,) = client.get(f"/api/v1/summaries/{summary.pk}/exchanges/").json()
    assert "findings" in exchange["received"]
    assert exchange["sent"][0]["content"].startswith("You are an analyst.")


def test_a_figure_in_a_reasoning_is_flagged(client, runs):
    summary = make_summary(runs)
    Grade.objects.filter(dimension="tone").update(reasoning="It is kind in 9 of 10 answers.")
    shown = text(page(client, "summary", summary.pk))
    assert "<strong>3 unsupported sentences</strong>" in shown


def test_a_failed_one_says_so_and_leads_to_the_exchange(client, runs):
    summary = make_summary(runs, error_kind="unusable_reply", reply="I will not.")
    shown = text(page(client, "summary", summary.pk))
    assert "No summary: failed." in shown
    assert reverse("reports:summary_exchange", args=[summary.pk, 1]) in shown
    assert "Regenerate" not in shown
    assert "Regenerate" in text(page(client, "summary", summary.pk, role="maintainer"))


def test_the_exchange_is_word_for_word_and_escaped(client, runs):
    summary = make_summary(runs, reply='{"findings": ["<script>alert(1)</script>"]}')
    shown = text(page(client, "summary_exchange", summary.pk, 1))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "You are an analyst." in shown
    assert "<script>alert(1)" not in text(page(client, "summary", summary.pk))


def test_a_test_sealed_since_withholds_the_texts(client, runs, tests):
    summary = make_summary(runs)
    tests[0].sealed = True
    tests[0].save()
    shown = text(page(client, "summary", summary.pk))
    assert "has been sealed since" in shown
    assert "Sums are wrong" not in shown
    assert ">2</td>" in shown
    assert page(client, "summary_exchange", summary.pk, 1).status_code == 404
    assert "Sums are wrong" in text(page(client, "summary", summary.pk, role="maintainer"))


def test_deleted_runs_leave_a_page(client, runs):
    summary = make_summary(runs)
    for run in runs:
        run.delete()
    shown = text(page(client, "summary", summary.pk))
    assert "Deleted." in shown
    assert f"/admin/evalhub/languagemodel/{runs[0].language_model_id}/change/" in shown


# Asking ------------------------------------------------------------------------------------------


def test_the_form_offers_runs_by_suite_and_shows_what_would_be_sent(client, runs):
    analyst = make_model(input_usd_per_mtok=1, output_usd_per_mtok=10)
    form = text(page(client, "summary_ask", role="maintainer", **{"with": runs[0].pk}))
    assert f'value="{runs[0].pk}" checked' in form
    query = {"runs": [run.pk for run in runs], "analyst": analyst.pk}
    shown = text(page(client, "summary_ask", role="maintainer", **query))
    assert "All 2 tests were sent whole." in shown
    assert "up to about $0.0" in shown
    assert f"Send to {analyst}" in shown
    assert not ExecutiveSummary.objects.exists()


@pytest.mark.parametrize("context", ["a lot", "10"])
def test_a_wrong_context_gives_an_error(client, runs, context):
    query = {"runs": runs[0].pk, "analyst": make_model().pk, "context": context}
    shown = text(page(client, "summary_ask", role="maintainer", **query))
    assert "Enter a number of tokens" in shown or "Enter 1,000 to" in shown
    assert "Request preview</h2>" not in shown or "Enter 1,000 to" in shown


def test_asking_makes_a_summary(client, runs):
    maintainer = make_user("maintainer")
    client.force_login(maintainer)
    sent = {"runs": [run.pk for run in runs], "analyst": make_model().pk, "context": "40,000"}
    response = client.post(reverse("reports:summary_ask"), sent)
    made = ExecutiveSummary.objects.get()
    assert response.url == f"/reports/summaries/{made.pk}/"
    assert (made.context_tokens, made.requested_by) == (40_000, maintainer)
    assert set(made.runs.all()) == set(runs)


def test_asking_again_and_cancelling(client, runs):
    summary = make_summary(runs, error_kind="unusable_reply", reply="no")
    client.force_login(make_user("maintainer"))
    act = reverse("reports:summary_act", args=[summary.pk])
    client.post(act, {"act": "again"})
    summary.refresh_from_db()
    assert (summary.state, summary.exchanges.count()) == (BatchState.LIVE, 2)
    client.post(act, {"act": "cancel"})
    summary.refresh_from_db()
    assert summary.state == BatchState.CANCELLED
    assert "cancelled" in text(client.get(summary.get_absolute_url()))


def test_runs_of_two_suites_are_refused(client, runs):
    other = make_run(make_test(), suite_fingerprint="other")
    maintainer = make_user("maintainer")
    client.force_login(maintainer)
    sent = {"runs": [runs[0].pk, other.pk], "analyst": make_model().pk}
    response = client.post(reverse("reports:summary_ask"), sent, follow=True)
    refused = client_of(maintainer).post("/api/v1/summaries/", sent, format="json")
    assert refused.status_code == 400
    for shown in (text(response), refused.content.decode()):
        assert "Choose runs over the same tests" in shown
        assert f"run {other.pk}" in shown
    assert not ExecutiveSummary.objects.exists()


def test_a_program_asks_reads_and_cancels(runs):
    script = client_of(make_user("maintainer"))
    sent = {"runs": [run.pk for run in runs], "analyst": make_model().pk}
    made = script.post("/api/v1/summaries/", sent, format="json")
    told = made.json()
    assert made.status_code == 201
    assert (told["status"], told["grades"], told["attempts"][0]["number"]) == ("running", [], 1)
    listed = script.get("/api/v1/summaries/", {"run": runs[0].pk}).json()["results"]
    assert [row["id"] for row in listed] == [told["id"]]
    one = f"/api/v1/summaries/{told['id']}/"
    assert script.post(f"{one}again/").status_code == 409
    assert script.post(f"{one}cancel/").json()["status"] == "cancelled"
