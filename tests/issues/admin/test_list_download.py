"""Lists of issues, tests and feedback as files."""

import json

import pytest

from tests.api import client_of
from tests.factories import make_issue, make_test
from tests.issues.pages import log_in, make_feedback, url

pytestmark = pytest.mark.django_db


def downloaded(client, table, **query):
    response = client.get(url(f"{table}_download", "json"), query)
    assert response["Content-Disposition"].startswith(f'attachment; filename="{table}')
    return json.loads(response.getvalue())


@pytest.mark.parametrize(
    ("table", "place", "make"),
    [
        ("issue", "issues", make_issue),
        ("test", "tests", make_test),
        ("feedback", "feedback", make_feedback),
    ],
)
def test_a_list_is_downloaded_as_the_api_shows_it(client, table, place, make):
    user, rows = log_in(client, "annotator"), [make() for _ in range(3)]

    found = downloaded(client, table)

    assert [row["id"] for row in found] == [row.pk for row in reversed(rows)]
    assert found == client_of(user).get(f"/api/v1/{place}/").json()["results"]


def test_it_holds_what_the_list_is_filtered_to_and_all_pages(client):
    wanted = [make_issue(state="draft") for _ in range(51)]
    make_issue()
    log_in(client, "viewer")

    found = downloaded(client, "issue", state__exact="draft")

    assert {row["id"] for row in found} == {row.pk for row in wanted}
    assert downloaded(client, "issue", q="nowhere said") == []


def test_sealed_texts_stay_where_they_are(client):
    make_test("SECRET", sealed=True, issue=make_issue(description="SECRET", title="Open"))
    log_in(client, "viewer")

    assert downloaded(client, "test") == []
    assert [(row["title"], row["description"]) for row in downloaded(client, "issue")] == [
        ("Open", "")
    ]


def test_a_wrong_filter_leads_to_the_list_that_explains_it(client):
    log_in(client, "viewer")

    response = client.get(url("issue_download", "json"), {"assignee__id__exact": "x"}, follow=True)

    assert response.status_code == 200
    assert response.request["PATH_INFO"] == url("issue_changelist")
    assert "This list has no filter assignee__id__exact." in response.content.decode()
