"""Reports split tests that could be known from those that could not."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.models import Exposure
from reports.documents.reading import Reading
from reports.heatmap.page import HeatForm
from reports.heatmap.page import build as heat_map
from reports.queries.exposure import CHOICES, only
from reports.run.page import document_of_run
from reports.run.query import run_report
from reports.run.sealing_query import sealing_of
from reports.trend.page import TrendForm
from reports.trend.page import build as trend
from runs.models import Result
from runs.result_list.filters import Filters
from tests.factories import make_issue, make_test, make_user
from tests.reports.judged_runs import judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


def sent(test, run, *, before):
    """The test was sent outside, shortly before or after the run was made."""
    row = Exposure.objects.create(test=test.pk, kind="sent", endpoint="a.org:443", day="2026-01-01")
    at = run.created_at + timedelta(seconds=-60 if before else 60)
    Exposure.objects.filter(pk=row.pk).update(created_at=at)


@shared_data
def a_run():
    """Open: 1 of 2 passed. Sealed: 0 of 1 never exposed, 1 of 1 exposed before."""
    issue = make_issue()
    tests = [make_test(issue=issue, sealed=is_sealed) for is_sealed in (False, False, True, True)]
    run = judged([1], [0], [0], [1], tests=tests)
    sent(tests[2], run, before=False)
    sent(tests[3], run, before=True)
    return run


def strata(run):
    found = sealing_of(run)
    return {one.key: (one.rate.passed, one.rate.n) for one in found.strata}


def test_tests_are_grouped_by_their_exposure_before_the_run(a_run):
    assert strata(a_run) == {"open": (1, 2), "never": (0, 1), "exposed": (1, 1)}


def test_where_nothing_is_sealed_there_is_nothing_to_tell_apart():
    assert sealing_of(judged([1], [0])) is None


@pytest.mark.parametrize(("days", "stratum"), [(-1, "exposed"), (1, "never")])
def test_what_was_open_before_the_run_was_known_and_later_was_not(days, stratum):
    test = make_test(sealed=True)
    run = judged([1], tests=[test])
    day = run.created_at.date() + timedelta(days=days)
    Exposure.objects.create(test=test.pk, kind="opened", day=day)
    assert strata(run) == {stratum: (1, 1)}


def test_what_is_not_scored_is_in_no_rate():
    tests = [make_test(sealed=True), make_test(sealed=True)]
    (found,) = sealing_of(judged([1], [None], tests=tests)).strata
    assert (found.total, found.rate.n) == (2, 1)


def test_a_difference_of_many_issues_is_certain_and_of_few_it_is_not(a_run):
    tests = [make_test(sealed=n % 2 == 0, issue=make_issue()) for n in range(40)]
    votes = [[0] if n % 2 == 0 and n > 3 else [1] for n in range(40)]
    found = sealing_of(judged(*votes, tests=tests)).difference
    # Open: 20 of 20. Sealed: the first two of 20.
    assert found.value == pytest.approx(1 - 2 / 20)
    assert found.is_certain
    few = sealing_of(a_run).difference
    assert few.value == pytest.approx(1 / 2 - 0)  # of open and never exposed ones
    assert not few.is_certain


def test_without_sealed_ones_that_were_never_exposed_there_is_no_difference():
    tests = [make_test(), make_test(sealed=True)]
    run = judged([1], [1], tests=tests)
    sent(tests[1], run, before=True)
    assert sealing_of(run).difference is None


def test_the_page_downloads_and_the_api_tell_it_with_its_definition(client, a_run):
    client.force_login(make_user("viewer"))
    page = client.get(reverse("reports:run", args=[a_run.pk]) + "?tab=tags").content.decode()
    for words in ("Open and sealed tests", "Sealed, never exposed", "+50 pts"):
        assert words in page
    assert "counts as exposed if, before the run was created" in page
    other = client.get(judged([1], [0]).get_absolute_url()).content.decode()
    assert "Open and sealed tests" not in other
    table = client.get(f"/api/v1/runs/{a_run.pk}/report/").json()["tables"]["sealing"]
    differences = [row["difference"] for row in table["rows"]]
    assert differences == [None, pytest.approx(0.5), None]
    report = run_report(a_run, Filters.read(QueryDict()), reader=make_user("viewer"))
    assert document_of_run(report).table("sealing").rows[0][2].n == 2


def test_it_takes_one_query_however_many_results(a_run):
    many = judged(*[[1]] * 6, tests=[make_test(sealed=n < 3) for n in range(6)])
    for one in (a_run, many):
        with CaptureQueriesContext(connection) as queries:
            sealing_of(one)
        results = [q for q in queries if "runs_result" in q["sql"]]
        assert len(results) == 1


# Filters -----------------------------------------------------------------------------------------


def test_reports_can_be_about_some_of_the_tests(a_run, subtests):
    reading = Reading(make_user("viewer"))
    for tests, n in {"": 4, "open": 2, "sealed": 2, "never": 1, "exposed": 1}.items():
        assert only(Result.objects.filter(run=a_run), tests).count() == n
        query = QueryDict(f"tests={tests}&suite=none")
        for form, build in ((TrendForm, trend), (HeatForm, heat_map)):
            with subtests.test(tests, report=form.__name__):
                assert first_rate(build(form(query).filters, reading)).n == n


def first_rate(document):
    cells = (getattr(cell, "value", cell) for row in document.tables[0].rows[:] for cell in row)
    return next(cell for cell in cells if hasattr(cell, "passed"))


def test_sentences_name_the_chosen_tests(a_run):
    asked = TrendForm(QueryDict("tests=never&suite=none")).filters
    sentences = " ".join(trend(asked, Reading(make_user("viewer"))).sentences)
    assert "sealed, never exposed before the run" in sentences
    assert "counts as exposed if" in sentences


def test_an_unknown_choice_is_named_and_all_are_shown():
    form = TrendForm(QueryDict("tests=secret"))
    assert form.filters["tests"] == ""
    assert "secret" in form.problems[0]
    assert len(CHOICES) == 5
