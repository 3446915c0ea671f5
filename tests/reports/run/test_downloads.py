"""The report of a run as files: JUnit XML, Markdown and HTML."""

import csv
from xml.etree import ElementTree

import pytest
from django.core.cache import caches
from django.urls import reverse

from issues.models import Tag, TagKind
from reports.documents.cells import as_json, words
from reports.documents.html_export import html_of
from reports.limits import MAX_RUN_ROWS
from reports.queries.result_rows import ResultTable
from reports.run.page import document_of_run
from reports.run.query import run_report
from runs.models import Answer, Result, Run
from runs.result_list.filters import Filters
from tests.api import client_of
from tests.factories import first_result, make_issue, make_run, make_test, make_user
from tests.reports.judged_runs import current, fail, judged

pytestmark = pytest.mark.django_db


def download(client, run, name, role="maintainer", query=""):
    client.force_login(make_user(role))
    response = client.get(reverse(f"reports:{name}", args=[run.pk]) + query)
    assert response.status_code == 200
    return response


def junit(client, run, **asked):
    response = download(client, run, "run_junit", **asked)
    return ElementTree.fromstring(response.getvalue())


def document(run, reader=None, **filters):
    reader, view = reader or make_user("annotator"), Filters(**filters)
    rows = ResultTable(run, current(run), reader).rows(view)
    return document_of_run(run_report(run, view, reader=reader), view, rows)


def test_repeats_are_counted_from_one_in_every_file_and_the_api(client):
    run = judged([1], [0], tests=[make_test()], repeats=2)

    def column(name):
        content = download(client, run, name).getvalue().decode("utf-8-sig")
        return sorted(int(row["repeat"]) for row in csv.DictReader(content.splitlines()))

    names = [case.get("name") for case in junit(client, run).iter("testcase")]
    rows = client_of("maintainer").get(f"/api/v1/results/?run={run.pk}").json()["results"]

    assert column("run_csv") == column("run_judgments_csv") == [1, 2]
    assert [name[-8:] for name in names] == ["answer 1", "answer 2"]
    assert sorted(row["repeat"] for row in rows) == [1, 2]  # as in POST runs/import_answers/


def test_every_file_has_whole_texts(client):
    question, answer = "why " * 3000 + "asked", "so " * 3000 + "answered"
    run = judged([0], [1], tests=[make_test(question)], repeats=2)
    Answer.objects.update(text=answer)
    names = ("run_csv", "run_jsonl", "run_json", "run_junit", "run_markdown", "run_html")
    for name in names:
        text = download(client, run, name).getvalue().decode()
        assert (question in text, answer in text) == (True, True), name
    page = client.get(run.get_absolute_url() + "?compute=1").content.decode()
    assert (question in page, answer in page) == (False, False)


# JUnit XML ---------------------------------------------------------------------------------------


def test_each_issue_is_a_suite_and_each_repeat_a_case(client):
    issues = [make_issue(title="Invents sources"), make_issue(title="Miscounts")]
    tests = [make_test(issue=issue) for issue in issues]
    found = junit(client, judged([1], [1], [0], [0], tests=tests, repeats=2))

    assert [suite.get("name") for suite in found] == ["Invents sources", "Miscounts"]
    assert [case.get("name") for case in found[0].iter("testcase")] == [
        "“What is 2 + 2?”, answer 1",
        "“What is 2 + 2?”, answer 2",
    ]


def test_failed_errors_and_excluded_are_three_things(client):
    issue = make_issue()
    tests = [make_test(issue=issue) for _ in range(5)]
    run = judged([1], [0], [None], [1], [1], tests=tests)
    failing, pending = run.results.order_by("pk")[3:]
    fail(run, failing)
    Result.objects.filter(pk=pending.pk).update(state="pending", passed=None, score=None)
    (suite,) = found = junit(client, run)

    kinds = [[part.tag for part in case] for case in suite.iter("testcase")]
    assert kinds == [[], ["failure"], ["skipped"], ["error"], ["skipped"]]
    counted = {"tests": "5", "failures": "1", "errors": "1", "skipped": "2"}
    assert {name: found.get(name) for name in counted} == counted
    assert {name: suite.get(name) for name in counted} == counted
    assert suite.find(".//error").get("message") == "timed out"


def test_a_failure_tells_what_was_asked_answered_and_judged_and_no_text_breaks_the_xml(client):
    test = make_test("]]></failure><x>\x1b\ufffe a & b")
    (failure,) = junit(client, judged([0, 1], tests=[test])).iter("failure")

    assert failure.get("message") == "score 0.5"
    assert "Asked: ]]></failure><x>\ufffd\ufffd a & b" in failure.text
    assert "Answered: An answer." in failure.text


def test_time_that_was_not_measured_is_left_out(client):
    run = judged([1], [1], tests=[make_test()], repeats=2)
    Result.objects.filter(pk=first_result(run).pk).update(latency_ms=1250)
    (suite,) = junit(client, run)

    assert suite.get("time") == "1.250"
    assert [case.get("time") for case in suite.iter("testcase")] == ["1.250", None]


def test_every_suite_has_the_scripted_label(client):
    (suite,) = junit(client, judged([1], is_scripted=True))

    assert suite.find(".//property[@name='labels']").get("value") == "scripted model"


def test_the_cases_are_those_that_the_grid_shows(client):
    found = junit(client, judged([1], [0]), query="?outcome=failed")

    assert found.get("tests") == "1"


def test_a_viewer_gets_no_sealed_text(client):
    run = judged([0], tests=[make_test("the secret", sealed=True)])
    Answer.objects.update(text="the secret too")
    for name in ("run_junit", "run_markdown", "run_html"):
        assert b"the secret" not in download(client, run, name, role="viewer").getvalue(), name


# Markdown and HTML -------------------------------------------------------------------------------


def test_the_document_has_the_figures_of_the_page():
    tests = [make_test(issue=make_issue(tags=("law",)))]
    run = judged([1], [0], [None], tests=tests, repeats=3)
    found, report = document(run), run_report(run, Filters(), reader=make_user("annotator"))
    facts = {fact.name: fact.value for fact in found.facts}

    assert facts["pass_rate"] == report.rate
    assert [row["n"] for row in found.table("outcomes").as_rows()] == [1, 1, 1, 0, 0]
    assert (facts["score"].value, facts["score"].n) == (report.score.mean, 2)
    (row,) = found.table("tags").rows
    assert (row[0].text, row[1], row[2].value, row[3:]) == (
        "law",
        report.tags[0].rate,
        1,
        (1, 0, 0),
    )
    assert found.table("flaky").rows[0][-2:] == (1, 2)


def test_sentences_say_what_the_rates_exclude():
    run = judged([1], [0], [None])

    assert document(run).sentences == (
        "1 of 2 scored results passed: 50% (95% CI 9–91%, "
        "Wilson by test, does not account for issues).",
        "Excluded from the rates: 1 unscored.",
        "Judged by 0 of 1: 1 answer.",
        "Depending on what is missing, 1 to 2 of 3 results may pass.",
    )


def test_the_document_holds_the_first_results_and_says_how_many_it_leaves_out():
    run = judged(*[[1]] * (MAX_RUN_ROWS + 5), tests=[make_test()], repeats=MAX_RUN_ROWS + 5)
    table = document(run).table("results")

    assert len(table.rows) == MAX_RUN_ROWS
    assert table.note == f"The first {MAX_RUN_ROWS} of {MAX_RUN_ROWS + 5}; CSV and JSON have all."


def test_a_filtered_document_says_so():
    table = document(judged([1], [0]), outcomes=("failed",)).table("results")

    assert len(table.rows) == 1
    assert "Filtered" in table.note


def test_markdown_keeps_text_of_people_text(client):
    run = judged([0], tests=[make_test(issue=make_issue(title="| **x** <b>"))])
    text = download(client, run, "run_markdown").content.decode()

    assert "\\| \\*\\*x\\*\\* \\<b\\>" in text
    assert "## Issues, lowest pass rate first" in text


def test_the_html_file_needs_nothing_else(client):
    run = judged([1], [0])
    response = download(client, run, "run_html")
    html = response.content.decode()

    assert f'filename="run-{run.pk}-' in response["Content-Disposition"]
    assert f"http://testserver/reports/runs/{run.pk}/" in html
    assert "<svg" in html
    assert "<script" not in html
    assert "src=" not in html
    rate = words(run_report(run, Filters(), reader=make_user("annotator")).rate, "rate")
    assert all(part in html for part in rate.removesuffix(")").split(" (", 1))


def test_a_run_without_results_has_a_document_too():
    run = make_run()
    run.results.all().delete()
    found = document(run)

    assert found.sentences[0] == "No result is scored yet."
    assert found.title in html_of(found)


# One source of figures ---------------------------------------------------------------------------


def test_page_json_api_and_document_tell_the_same_figures(client):
    caches["computed"].clear()
    Tag.objects.create(name="law", kind=TagKind.DOMAIN)
    tests = [make_test(issue=make_issue(tags=("law",))), make_test(), make_test()]
    votes = ([1], [0], [0.4], [1], [None], [1])
    run = judged(*votes, tests=tests, repeats=2)
    Result.objects.filter(run=run).update(latency_ms=900, cost_usd="0.002")
    Run.objects.filter(pk=run.pk).update(spent_usd="0.024")
    client.force_login(make_user("maintainer"))
    shown = client.get(run.get_absolute_url() + "?compute=1").context["report"]
    api = client_of("viewer").get(reverse("api-run-report", args=[run.pk])).json()
    file = download(client, run, "run_json").json()
    found = document(run)
    facts = {fact.name: fact.value for fact in found.facts}

    assert file["facts"] == api["facts"]
    assert {key: file["tables"][key] for key in api["tables"]} == api["tables"]
    assert file["tables"]["usage"]["rows"][0]["cost_usd"] == float(shown.run.spent_usd)
    assert api["facts"]["pass_rate"]["value"] == as_json(shown.rate) == as_json(facts["pass_rate"])
    assert api["facts"]["score"]["value"]["value"] == shown.score.mean
    rates = [row["rate"] for row in api["tables"]["domains"]["rows"]]
    assert rates == [as_json(shown.domains[0].rate)]
    assert len(api["tables"]["flaky"]["rows"]) == shown.flaky.total == 1
    assert sum(row["n"] for row in api["tables"]["cost"]["rows"]) == shown.cost.n == 6
