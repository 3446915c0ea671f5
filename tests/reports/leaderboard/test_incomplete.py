"""Incomplete runs are ranked nowhere, and listed with the button that completes them."""

import pytest
from django.http import QueryDict
from django.urls import reverse

from evalhub.models import ItemState
from reports.capabilities.query import capability_report
from reports.documents.exports import json_of
from reports.documents.reading import Reading
from reports.drift.page import DRIFT
from reports.leaderboard.page import LEADERBOARD
from runs.figures.run_tallies import count_due
from runs.models import Result, Run
from tests.factories import make_model, make_tests, make_user
from tests.reports.judged_runs import judged
from tests.reports.scored_runs import as_judged, make_suite, scored_run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def tests():
    return make_tests(20)


def built(page=LEADERBOARD, query="", role="maintainer"):
    form = page.form(QueryDict(query))
    assert form.problems == []
    return page.build(form.filters, Reading(make_user(role)))


def names(document, table="ranking"):
    return [row["name"].text for row in document.table(table).as_rows()]


def failed(run):
    """Let the unscored results of the run be errors."""
    run.results.filter(score=None).update(state=ItemState.ERROR, error_kind="timeout")
    return run


def test_a_model_that_answers_one_of_twenty_is_not_ranked(tests):
    """Story: right once and failing 19 calls is no mean of 1.0."""
    lucky, steady = make_model(name="lucky"), make_model(name="steady")
    for n in range(10):
        suite = make_suite(*tests, name=f"Suite {n}")
        failed(scored_run(suite, lucky, 1, *[None] * 19, tests=tests))
        scored_run(suite, steady, *[0.8] * 20, tests=tests)

    document = built()

    assert names(document) == ["steady"]
    assert not any("lucky" in sentence for sentence in document.sentences)
    assert document.table("excluded").as_rows() == [
        {"name": "lucky", "reason": "no complete run; 10 incomplete runs"}
    ]
    rows = document.table("incomplete").as_rows()
    assert [(row["model"], row["scored"], row["total"], row["lacks"]) for row in rows] == [
        ("lucky", 1, 20, "19 errors")
    ] * 10
    assert {row["retry"].text for row in rows} == {"Retry 19 failed"}
    assert json_of(document)["tables"]["incomplete"]["rows"][0]["scored"] == 1


def test_who_may_not_control_runs_sees_no_button(tests):
    failed(scored_run(make_suite(*tests), make_model(), 1, *[None] * 19, tests=tests))

    (row,) = built(query="least=1", role="viewer").table("incomplete").as_rows()

    assert row["retry"] is None


def test_retry_failed_is_one_click_and_a_confirmation(client, tests):
    run = failed(scored_run(make_suite(*tests), make_model(), 1, *[None] * 19, tests=tests))
    client.force_login(make_user("maintainer"))
    (row,) = built(query="least=1").table("incomplete").as_rows()

    shown = client.get(row["retry"].url)
    assert "Retry 19 failed results" in shown.content.decode()
    assert run.results.filter(state=ItemState.PENDING).count() == 0

    client.post(row["retry"].url, {"act": "retry_errors"})
    assert run.results.filter(state=ItemState.PENDING).count() == 19


def test_the_confirmation_is_for_those_who_control_runs(client, tests):
    run = scored_run(make_suite(*tests), make_model(), *[None] * 20, tests=tests)
    url = reverse("admin:runs_run_control", args=[run.pk])
    client.force_login(make_user("viewer"))

    for act in ("retry_errors", "pause"):
        assert client.get(f"{url}?act={act}").status_code == 403


def test_results_without_a_score_and_without_an_error_offer_no_retry(tests):
    scored_run(make_suite(*tests), make_model(), 1, *[None] * 19, tests=tests)

    (row,) = built(query="least=1").table("incomplete").as_rows()

    assert (row["lacks"], row["retry"]) == ("19 unscored", None)


def test_the_complete_run_before_an_incomplete_one_counts(tests):
    suite, model = make_suite(*tests), make_model(name="gpt-4o")
    scored_run(suite, model, *[0.6] * 20, tests=tests, days_ago=1)
    failed(scored_run(suite, model, *[1] * 10, *[None] * 10, tests=tests))

    document = built(query="least=1")

    (row,) = document.table("ranking").as_rows()
    assert row["mean"].value == pytest.approx(0.6)
    assert len(document.table("incomplete").rows) == 1


def test_an_incomplete_run_that_was_run_again_is_no_longer_listed(tests):
    suite, model = make_suite(*tests), make_model(name="gpt-4o")
    failed(scored_run(suite, model, *[1] * 10, *[None] * 10, tests=tests, days_ago=1))
    scored_run(suite, model, *[0.6] * 20, tests=tests)

    assert built(query="least=1").table("incomplete") is None


def test_nineteen_of_twenty_are_enough(tests):
    run = scored_run(make_suite(*tests), make_model(name="gpt-4o"), *[1] * 19, None, tests=tests)

    document = built(query="least=1")
    assert names(document) == ["gpt-4o"]

    Result.objects.filter(pk=run.results.first().pk).update(**as_judged(None))
    assert names(built(query="least=1")) == []


def test_a_capability_counts_no_incomplete_run(tests):
    failed(scored_run(make_suite(*tests), make_model(), 1, *[None] * 19, tests=tests))

    assert capability_report().records == ()


def test_a_run_that_lost_its_hard_tests_did_not_drift(tests):
    suite, model = make_suite(*tests), make_model()
    scored_run(suite, model, *[1] * 10, *[0] * 10, tests=tests, days_ago=3)
    scored_run(suite, model, *[1] * 10, *[0] * 10, tests=tests, days_ago=2)
    failed(scored_run(suite, model, *[1] * 10, *[None] * 10, tests=tests))

    document = built(DRIFT)

    assert document.table("drifts").rows == []
    assert [row["lacks"] for row in document.table("incomplete").as_rows()] == ["10 errors"]


@pytest.mark.both_engines
@pytest.mark.parametrize("is_counted", [True, False])
def test_a_silent_judge_leaves_a_run_unranked_though_every_answer_is_scored(tests, is_counted):
    """One of three judges gives no verdict on 3 or on 4 of 20 answers: 95 %, or less, are there."""
    suite, runs = make_suite(*tests, name="Suite"), {}
    for silent in (3, 4):
        votes = [[None if n < silent else 1.0, 1.0, 1.0] for n in range(len(tests))]
        model = make_model(name=f"{silent} silent")
        runs[silent] = judged(*votes, tests=tests, suite=suite, model=model)
        if is_counted:
            count_due()
    assert set(Run.objects.conclusive()) == set(runs.values())

    document = built(query="least=1")

    assert names(document) == ["3 silent"]
    assert document.table("excluded").as_rows() == [
        {"name": "4 silent", "reason": "no complete run; 1 incomplete run"}
    ]
    (row,) = document.table("incomplete").as_rows()
    assert (row["scored"], row["total"], row["lacks"]) == (20, 20, "4 judgments")
    assert row["retry"].text == "Retry 4 failed"
    assert "the scores may be others with the silent judges" in document.table("incomplete").note
    assert [one.runs for one in capability_report().field.latest] == [(runs[3].pk,)]
    assert len(built(DRIFT).table("incomplete").rows) == 1


def test_models_are_compared_on_the_tests_that_both_have_scored(tests):
    """One lacks its first test, the other its last: 18 are left."""
    suite = make_suite(*tests)
    scored_run(suite, make_model(name="gpt-4o"), None, *[1] * 19, tests=tests)
    scored_run(suite, make_model(name="grok-4"), *[0] * 19, None, tests=tests)
    document = built(query="least=1")
    (row, _) = document.table("ranking").as_rows()

    query = row["name"].url.partition("?")[2].partition("#")[0]
    (rival,) = built(query=query).table("rivals").as_rows()

    assert (rival["tests"], rival["changed"]) == (18, 18)
    assert Run.objects.conclusive().count() == 2
