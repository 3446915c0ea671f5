"""Whatever stands in the address of a report, it is answered: with a page, or a refusal."""

import pytest
from django.test import Client
from django.urls import reverse

from reports.registry import page_of
from tests.factories import first_result, make_user
from tests.reports.workspaces import VIEWS, make_workspace

pytestmark = pytest.mark.django_db

NASTY = ("", "-1", "1e308", "nan", "9" * 5000, "9223372036854775808", "a\x00b", "\u0663", "1,2")


@pytest.fixture
def browser():
    client = Client(raise_request_exception=False)
    client.force_login(make_user("superuser"))
    return client


def broken(client, url, names, view=None):
    """The values that end in an error of the server, each given for all of these parameters."""
    asked = [(value, dict.fromkeys(names, value) | (view or {})) for value in NASTY]
    return [value[:20] for value, query in asked if client.get(url, query).status_code >= 500]


def test_no_value_breaks_a_report_page(browser, subtests):
    make_workspace()
    for key, view in VIEWS:
        with subtests.test(key, **view):
            fields = page_of(key).form.base_fields
            assert broken(browser, reverse(f"reports:{key}"), fields, view) == []


def test_no_value_breaks_the_pages_beside_them(browser):
    run = make_workspace().runs[0]
    result = first_result(run)
    numbers = ("page", "run", "runs", "with", "analyst", "context", "issue", "test", "result")
    words = ("q", "find", "tag", "domain", "outcome", "sort")
    urls = (
        reverse("admin:runs_run_changelist"),
        reverse("reports:run", args=[run.pk]),
        reverse("reports:compare_runs"),
        reverse("reports:compare_answers", args=[result.pk, result.pk]),
        reverse("reports:summaries"),
        reverse("reports:summary_ask"),
        reverse("reports:similarity", args=[result.test_id]),
    )

    assert {url: found for url in urls if (found := broken(browser, url, (*numbers, *words)))} == {}
