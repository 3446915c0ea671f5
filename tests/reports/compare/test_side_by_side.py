"""Several runs side by side: tests by runs, and what they add up to."""

import re

import pytest

from evalhub.statistics.rates.rate_interval import Method
from evalhub.statistics.rates.wilson import wilson_bounds, wilson_quantile
from reports.documents.links import page_url
from runs.models import Result
from tests.factories import make_issue, make_test, make_user
from tests.reports.compare.test_page import FAIL, NONE, PASS, facts, listed, report
from tests.reports.judged_runs import fail, judged

pytestmark = pytest.mark.django_db


def three_runs(*votes, tests):
    return [judged(*given, tests=tests, label=f"run {n}") for n, given in enumerate(votes)]


def cells(document, run):
    """The texts of a run's column by test."""
    column = f"run_{run.pk}"
    return {
        row["test"].text: getattr(row[column], "text", row[column])
        for row in listed(document, "grid")
    }


def totals(document, run):
    return next(row for row in listed(document, "totals") if row["run"].text == run.label)


@pytest.fixture
def tests():
    issue = make_issue(tags=("facts",))
    return [make_test("How many?", issue=issue), make_test("When?")]


def test_tests_on_which_runs_differ_come_first(tests):
    runs = three_runs([PASS, PASS], [PASS, FAIL], [PASS, PASS], tests=tests)

    document = report(*runs)

    assert [row["prompt"] for row in listed(document, "grid")] == ["When?", "How many?"]
    assert facts(document)["mixed"] == 1


def test_a_cell_is_the_share_that_passed_with_its_n(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], tests=tests)
    repeated = judged(PASS, FAIL, PASS, PASS, tests=tests, repeats=2)

    found = cells(report(*runs, repeated), repeated)

    assert sorted(found.values()) == ["100% (2 of 2)", "50% (1 of 2)"]


def test_what_a_run_does_not_have_is_not_available(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], tests=tests)
    shorter = judged(PASS, tests=tests[:1])

    document = report(*runs, shorter)

    assert sorted(cells(document, shorter).values()) == ["100% (1 of 1)", "N/A"]
    assert totals(document, shorter)["absent"] == 1


def test_what_people_scored_has_a_star(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], [PASS, PASS], tests=tests)
    Result.objects.filter(run=runs[1], test=tests[0]).update(is_overridden=True)

    document = report(*runs)

    assert "* 100% (1 of 1)" in cells(document, runs[1]).values()
    assert totals(document, runs[1])["overridden"] == 1


def test_errors_and_unscored_are_in_no_rate(tests):
    runs = three_runs([PASS, PASS], [PASS, NONE], [PASS, PASS], tests=tests)
    fail(runs[2], runs[2].results.first())

    document = report(*runs)

    assert "unscored" in cells(document, runs[1]).values()
    assert "error" in cells(document, runs[2]).values()
    assert (totals(document, runs[1])["rate"].n, totals(document, runs[1])["unscored"]) == (1, 1)
    assert (totals(document, runs[2])["rate"].n, totals(document, runs[2])["error"]) == (1, 1)


def test_all_tests_or_those_of_all_runs_are_shown(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], tests=tests)
    shorter = judged(FAIL, tests=tests[:1])

    shared = report(*runs, shorter, shared="on")

    assert facts(report(*runs, shorter))["tests"] == 2
    assert facts(shared)["tests"] == 1
    assert totals(shared, runs[0])["rate"].n == 1


def test_totals_are_over_what_is_shown(tests):
    runs = three_runs([PASS, FAIL], [PASS, PASS], [PASS, PASS], tests=tests)

    by_tag = report(*runs, tag="facts")

    assert (totals(by_tag, runs[0])["passed"], totals(by_tag, runs[0])["failed"]) == (1, 0)
    assert facts(report(*runs, q="when"))["tests"] == 1


def test_an_edited_test_is_another_row(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], tests=tests)
    tests[0].messages = [{"role": "user", "content": "How many of them?"}]
    tests[0].save()
    later = judged(PASS, PASS, tests=tests)

    document = report(*runs, later)

    assert facts(document)["tests"] == 3
    assert totals(document, later)["absent"] == 1


def test_sealed_prompts_are_not_shown_to_viewers():
    secret = [make_test("Secret?", sealed=True)]
    runs = three_runs([PASS], [PASS], [FAIL], tests=secret)

    assert listed(report(*runs, reader="viewer"), "grid")[0]["prompt"] is None


def test_repeats_are_no_further_tests(tests):
    runs = three_runs([PASS, PASS], [PASS, PASS], tests=tests)
    repeated = judged(PASS, FAIL, FAIL, FAIL, tests=tests, repeats=2, label="twice")

    rate = totals(report(*runs, repeated), repeated)["rate"]

    assert (rate.passed, rate.n, rate.method) == (1, 4, Method.BY_TEST)
    assert rate.interval == wilson_bounds(0.25, 2, wilson_quantile(0.95))


def test_more_runs_than_fit_give_a_warning(tests):
    runs = [judged(PASS, PASS, tests=tests) for _ in range(13)]

    document = report(*runs)

    assert document.warnings[0].startswith("Showing the first 12 of 13 chosen runs")


def test_the_grid_shades_what_it_counts_and_nothing_else(client, tests):
    runs = three_runs([PASS, PASS], [FAIL, PASS], tests=tests)
    shorter = judged(PASS, tests=tests[:1])
    client.force_login(make_user("viewer"))

    page = client.get(page_url("compare", runs=[*runs, shorter])).content.decode()

    cells = re.findall(r"<td[^>]*>(?:(?!</td>).)*</td>", page, re.S)
    assert any("--heat: 100%" in cell and "100% (1 of 1)" in cell for cell in cells)
    assert any("--heat: 0%" in cell and "0% (0 of 1)" in cell for cell in cells)
    assert all("--heat" not in cell for cell in cells if "N/A" in cell)
