"""The page of underperforming issues: a planted one is found, in a run and over runs."""

import pytest
from django.core.cache import caches

from evalhub.statistics.rates.rate_interval import Method
from reports.documents.reading import Reading
from reports.underperforming.page import UNDERPERFORMING
from tests.factories import make_issue, make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, fail, finish, judge

pytestmark = pytest.mark.django_db


def document_of(run=None, reading=None):
    return UNDERPERFORMING.build({"run": run}, reading or Reading(make_user("viewer")))


def rows(document, key="listed"):
    return document.table(key).as_rows()


def names(document, key="listed"):
    return [row["issue"].text for row in rows(document, key)]


def make_tests():
    """Ten tests of a fine issue, and five of a planted one."""
    fine, planted = make_issue(title="Fine"), make_issue(title="Planted")
    return [
        *(make_test(f"Fine {n}?", issue=fine) for n in range(10)),
        *(make_test(f"Planted {n}?", issue=planted) for n in range(5)),
    ]


def run_of(tests, votes, **fields):
    run = make_run(*tests, jury=make_jury(make_model()), **fields)
    answer(run)
    of = {test.pk: vote for test, vote in zip(tests, votes, strict=True)}
    judge(run, [[of[result.test_id]] for result in run.results.order_by("pk")])
    finish(run)
    return run


def test_a_planted_issue_is_listed_with_its_reason():
    run = run_of(make_tests(), [1] * 10 + [0] * 5)
    document = document_of(run)
    (row,) = rows(document)

    # Of the choices of 5 of the 15 tests one has no pass; twice that over two issues.
    assert row["issue"].text == "Planted"
    assert row["p"] == pytest.approx(1 / 3003)
    assert row["p_holm"] == pytest.approx(2 / 3003)
    assert row["others"] == 1
    assert "0 of 5 answers passed, 100% of the other issues'" in row["why"]
    assert "the hypergeometric test of 5 tests, Holm over 2 issues" in row["why"]
    assert next(fact.value for fact in document.facts if fact.name == "rate").n == 15
    assert document.table("listed").figure["layout"]["shapes"][0]["x0"] == pytest.approx(1 / 3)


def test_a_low_issue_that_may_be_chance_comes_next():
    run = run_of(make_tests(), [1] * 9 + [0] + [1, 1, 1, 1, 0])
    document = document_of(run)

    assert names(document) == []
    assert "Planted" in names(document, "next")


def test_an_issue_that_never_passed_in_three_runs_is_named_apart_however_small():
    tests = make_tests()[:11]
    for _ in range(2):
        run_of(tests, [1] * 10 + [0])
    document = document_of(run_of(tests, [1] * 10 + [0]))

    assert names(document) == []
    assert [(row["issue"].text, row["answers"]) for row in rows(document, "never")] == [
        ("Planted", 3)
    ]


def test_later_runs_do_not_change_what_a_run_tells():
    tests = make_tests()[:11]
    first = run_of(tests, [1] * 10 + [0])
    for _ in range(2):
        run_of(tests, [1] * 10 + [0])

    assert names(document_of(first), "never") == []


def test_errors_and_unscored_results_are_counted_outside_the_rates():
    run = run_of(make_tests(), [1] * 10 + [0] * 4 + [None])
    fail(run, run.results.order_by("pk")[10])
    (row,) = rows(document_of(run))

    assert (row["rate"].value.passed, row["rate"].value.n, row["excluded"]) == (0, 3, 2)


def test_repeats_are_computed_by_a_second_request():
    caches["computed"].clear()
    tests = make_tests()
    more = [make_test(f"Planted {n}?", issue=tests[-1].issue) for n in range(5, 8)]
    run = run_of([*tests, *more], [1] * 10 + [0] * 8, repeats=2)
    first = Reading(make_user("viewer"), computes=False)
    document_of(run, first)
    (row,) = rows(document_of(run))

    # Of the 43,758 choices of eight tests one fails as often.
    assert first.pending
    assert (row["issue"].text, row["tests"]) == ("Planted", 8)
    assert row["p"] < 0.001
    assert (row["rate"].value.n, row["rate"].value.method) == (16, Method.BY_TEST)


def test_the_newest_complete_run_is_looked_at_unless_another_is_asked_for():
    tests = make_tests()
    run_of(tests, [1] * 15)
    newest = run_of(tests, [1] * 10 + [0] * 5, label="the newest")
    make_run(*tests)

    assert document_of().facts[0].value == newest.label
