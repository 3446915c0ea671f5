"""Each page that leaves incomplete runs out lists them, with what is missing and the way to get it.

Leaderboard, capabilities and drift are in `tests/reports/leaderboard/test_incomplete.py`.
"""

import pytest
from django.http import QueryDict
from django.urls import reverse

from evalhub.models import ItemState
from reports.compare.page import COMPARE
from reports.documents.reading import Reading
from reports.heatmap.page import HEATMAP
from reports.issue_timeline.page import ISSUE_TIMELINE
from reports.notifications import in_words
from runs.comparison.baselines import pin
from runs.figures.tallies import cells_of, group_of
from tests.factories import make_issue, make_model, make_tests, make_user
from tests.reports.scored_runs import as_judged, make_suite, scored_run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def issue():
    return make_issue()


@shared_data
def tests(issue):
    return make_tests(20, issue=issue)


@shared_data
def suite(tests):
    return make_suite(*tests)


@shared_data
def model():
    return make_model(name="gpt-4o")


@shared_data
def complete(suite, model, tests):
    return scored_run(suite, model, *[1] * 10, *[0] * 10, tests=tests, days_ago=1)


@shared_data
def incomplete(complete, suite, model, tests):
    """The newer run: the ten tests that were failed before ended in errors."""
    run = scored_run(suite, model, *[1] * 10, *[None] * 10, tests=tests)
    run.results.filter(score=None).update(state=ItemState.ERROR, error_kind="timeout")
    return run


def built(page, **query):
    form = page.form(QueryDict("&".join(f"{name}={value}" for name, value in query.items())))
    assert form.problems == []
    return page.build(form.filters, Reading(make_user("maintainer")))


def listed(document):
    """What is missing of each incomplete run, and its button."""
    return [
        (row["run"].text, row["lacks"], row["retry"].text)
        for row in document.table("incomplete").as_rows()
    ]


def test_a_heat_map_keeps_the_complete_run_and_lists_the_newer_one(complete, incomplete):
    document = built(HEATMAP)

    names = [column.name for column in document.table("map").columns]
    assert f"run_{complete.pk}" in names
    assert f"run_{incomplete.pk}" not in names
    assert listed(document) == [(incomplete.label, "10 errors", "Retry 10 failed")]


def test_an_issue_timeline_has_no_incomplete_run(issue, complete, incomplete):
    document = built(ISSUE_TIMELINE, issue=issue.pk)

    assert [row["run"].text for row in document.table("runs").as_rows()] == [complete.label]
    assert listed(document) == [(incomplete.label, "10 errors", "Retry 10 failed")]


def test_a_comparison_with_an_incomplete_run_warns_and_offers_to_retry(complete, incomplete):
    document = built(COMPARE, runs=f"{complete.pk}&runs={incomplete.pk}")

    assert any("is incomplete, 10/20 scored" in warning for warning in document.warnings)
    assert listed(document) == [(incomplete.label, "10 errors", "Retry 10 failed")]


def test_a_comparison_says_why_it_passes_the_baseline_over(suite, model, tests, complete):
    baseline = scored_run(suite, model, *[1] * 20, tests=tests, days_ago=2)
    pin(baseline)
    baseline.results.update(**as_judged(None))
    run = scored_run(suite, model, *[1] * 20, tests=tests)

    document = built(COMPARE, runs=run.pk)

    assert document.title == f"{model.name}: from {complete.label} to {run.label}"
    assert any(
        f"baseline is not used. {baseline.label} is incomplete, 0/20 scored" in warning
        for warning in document.warnings
    )


def test_home_names_the_incomplete_run_with_what_completes_it(client, complete, incomplete):
    client.force_login(make_user("maintainer"))

    page = client.get(reverse("admin:index")).content.decode()

    assert f"/run/{incomplete.pk}/control/?act=retry_errors" in page
    assert f"Failed results of {incomplete.model_name}" in page


def test_a_notification_says_that_the_run_is_incomplete(incomplete):
    words = in_words(group_of(cells_of([incomplete.pk])))

    assert words == "incomplete, 100% passed (10 of 10), 10/20 scored, 10 error"
