"""The tabs of a page whose rows are read when they are opened."""

import pytest
from django.urls import reverse

from issues.models import Feedback
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import grant, issue_form, log_in, url

pytestmark = pytest.mark.django_db


def rows(client, issue, query=""):
    """What a tab shows to its page's script."""
    address = url("issue_tab", issue.pk, "tests") + query
    return client.get(address, headers={"HX-Request": "true"}).text


def test_a_page_leaves_the_rows_of_a_tab_to_it(client):
    log_in(client, "maintainer")
    test = make_test("Which year was it?")
    page = client.get(url("issue_change", test.issue_id)).text
    assert "Which year was it?" not in page
    assert f'hx-get="{url("issue_tab", test.issue_id, "tests")}"' in page
    assert "Which year was it?" in rows(client, test.issue)


def test_rows_stand_within_a_form_and_send_nothing(client):
    log_in(client, "maintainer")
    test = make_test()
    found = rows(client, test.issue)
    assert "<input" not in found
    assert "<html" not in found


def test_without_a_script_a_tab_is_a_page_of_its_own(client):
    log_in(client, "viewer")
    test = make_test("Which year was it?")
    page = client.get(url("issue_tab", test.issue_id, "tests")).text
    assert "<html" in page
    assert "Which year was it?" in page
    assert f'href="{url("issue_change", test.issue_id)}#tests"' in page


def test_long_tabs_have_pages(client):
    log_in(client, "viewer")
    issue = make_issue()
    for number in range(21):
        make_test(f"Question {number}.", issue=issue)
    first, second = rows(client, issue), rows(client, issue, "?tests-page=2")
    assert first.count("Question ") == 20
    assert second.count("Question ") == 1
    page = client.get(url("issue_change", issue.pk) + "?tests-page=2#tests").text
    assert f'hx-get="{url("issue_tab", issue.pk, "tests")}?tests-page=2"' in page


def test_an_empty_tab_says_so(client):
    log_in(client, "viewer")
    assert "There are no tests." in rows(client, make_issue())


def test_a_tab_needs_the_right_to_see_its_rows(client):
    user = make_user()
    grant(user, "view_issue")
    client.force_login(user)
    issue = make_test().issue
    assert client.get(url("issue_tab", issue.pk, "tests")).status_code == 404
    assert 'href="#tests"' not in client.get(url("issue_change", issue.pk)).text


@pytest.mark.parametrize("name", ["comments", "nothing"])
def test_only_tabs_that_are_read_later_have_an_address(client, name):
    log_in(client, "maintainer")
    assert client.get(url("issue_tab", make_issue().pk, name)).status_code == 404


def test_a_tab_is_only_read(client):
    log_in(client, "maintainer")
    assert client.post(url("issue_tab", make_issue().pk, "tests")).status_code == 405


def test_a_reader_without_the_right_to_the_page_has_none_to_its_tabs(client):
    client.force_login(make_user())
    assert client.get(url("issue_tab", make_issue().pk, "tests")).status_code == 403


def test_a_form_is_saved_without_the_rows_of_its_tabs(client):
    log_in(client, "maintainer")
    issue = make_test().issue
    Feedback.objects.create(comment="Seen again.", issue=issue)
    sent = issue_form(issue, title="Counts wrongly")
    assert client.post(url("issue_change", issue.pk), sent).status_code == 302
    issue.refresh_from_db()
    assert issue.title == "Counts wrongly"
    assert issue.tests.count() == issue.feedback.count() == 1


def test_a_refused_form_still_has_its_tabs(client):
    log_in(client, "maintainer")
    issue = make_test().issue
    page = client.post(url("issue_change", issue.pk), issue_form(issue, title=""))
    assert page.status_code == 200
    assert f'hx-get="{reverse("admin:issues_issue_tab", args=[issue.pk, "tests"])}"' in page.text
