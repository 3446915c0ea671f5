"""Runs one by one: their outcomes and their tags."""

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from reports.documents.reading import Reading
from reports.run_details.page import MAX_RUNS, RUN_DETAILS
from tests.factories import make_issue, make_model, make_test, make_user
from tests.reports.judged_runs import fail, judged

pytestmark = pytest.mark.django_db


def build(query=""):
    form = RUN_DETAILS.form(QueryDict(query))
    return RUN_DETAILS.build(form.filters, Reading(make_user("viewer")))


def run_of(name, *votes, tests, **fields):
    return judged(*votes, tests=tests, model=make_model(name=name), variant_key=name, **fields)


@pytest.fixture
def tests():
    return [make_test(issue=make_issue(tags=(tag, "all"))) for tag in ("law", "maths", "law")]


def test_every_outcome_of_a_run_is_counted_apart(tests):
    run = run_of("kelp", [1], [0], [None], tests=tests)
    fail(run, run.results.first())
    (row,) = build(f"runs={run.pk}").table("runs").as_rows()

    counts = {
        name: getattr(row[name], "value", row[name])
        for name in ("passed", "failed", "unscored", "error", "pending")
    }
    assert counts == {"passed": 0, "failed": 1, "unscored": 1, "error": 1, "pending": 0}
    assert (row["rate"].passed, row["rate"].n) == (0, 1)
    assert row["error"].url == f"/reports/runs/{run.pk}/?outcome=error#results"


def test_one_run_shows_pass_and_fail_of_each_tag(tests):
    run = run_of("kelp", [1], [1], [0], tests=tests)
    table = build(f"runs={run.pk}").table("tags")
    found = {row["tag"]: row for row in table.as_rows()}

    assert list(found) == ["law", "all", "maths"]
    assert [found["law"][name].value for name in ("passed", "failed")] == [1, 1]
    assert table.figure["layout"]["barmode"] == "stack"


def test_several_runs_show_their_rates_on_each_tag_beside_each_other(tests):
    first = run_of("kelp", [1], [1], [0], tests=tests)
    second = run_of("aurora", [0], [1], tests=tests[1:])
    document = build(f"runs={second.pk}&runs={first.pk}")
    table = document.table("tags")
    rates = {row[0]: [(cell.value.passed, cell.value.n) for cell in row[1:]] for row in table.rows}

    assert [column.title for column in table.columns] == ["Tag", "aurora", "kelp"]
    assert rates == {"law": [(1, 1), (1, 2)], "maths": [(0, 1), (1, 1)], "all": [(1, 2), (2, 3)]}
    assert table.figure["layout"]["barmode"] == "group"


def test_the_latest_complete_runs_are_shown_unless_others_are_chosen(tests):
    runs = [run_of(f"model {n}", [1], tests=tests[:1]) for n in range(4)]
    judged([1], tests=tests[:1], done=False)
    rows = build().table("runs").as_rows()

    assert [row["run"].text for row in rows] == [run.label for run in runs[1:]]


def test_runs_of_one_variant_have_different_names(tests):
    model = make_model(name="kelp")
    runs = [judged([1], tests=tests[:1], model=model, variant_key="v") for _ in range(2)]
    rows = build().table("runs").as_rows()

    assert [row["model"] for row in rows] == [f"kelp, run ({run.pk})" for run in runs]


def test_too_many_runs_are_cut_with_a_sentence(tests):
    runs = [run_of(f"model {n}", [1], tests=tests[:1]) for n in range(MAX_RUNS + 2)]
    document = build("&".join(f"runs={run.pk}" for run in runs))

    assert len(document.table("runs").rows) == MAX_RUNS
    assert any("the last 2 chosen runs" in sentence for sentence in document.sentences)


def test_runs_are_added_and_removed_by_links(tests):
    first, second = (run_of(name, [1], tests=tests[:1]) for name in ("kelp", "aurora"))
    browser = Client()
    browser.force_login(make_user("viewer"))
    page = browser.get(reverse("reports:run_details"), {"runs": first.pk, "find": "aurora"})

    assert f"?runs={first.pk}&amp;runs={second.pk}" in page.content.decode()
