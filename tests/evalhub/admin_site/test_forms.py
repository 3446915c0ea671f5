"""Forms as the theme draws them."""

import re

import pytest

from issues.models import Comment
from issues.models import Test as Sample
from tests.factories import make_issue, make_test
from tests.issues.pages import form_of_a_test, issue_form, log_in, rubric_form, url

pytestmark = pytest.mark.django_db


def open_tab(html):
    return re.search(r"activeFieldsetTab: '([^']*)'", html)[1]


def link_to_tab(html, name):
    """The text of a link to a tab, with its counts."""
    link = re.search(rf'<a href="#{name}".*?>(.*?)</a>', html, re.DOTALL)[1]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", link)).strip()


def test_the_tab_with_an_error_is_open_and_counts_it(client):
    log_in(client, "maintainer")
    test = make_test()
    assert open_tab(client.get(url("test_change", test.pk)).text) == "judging"

    sent = form_of_a_test(issue=test.issue_id, tools="{") | rubric_form()
    sent |= {f"comments-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    html = client.post(url("test_change", test.pk), sent).text

    assert open_tab(html) == "tools-and-documents"
    assert re.search(r'Tools and documents\s*<span data-testid="error-count"[^>]*>\s*1\s*<', html)
    assert link_to_tab(html, "general") == "General 1"
    assert Sample.objects.get().tools == test.tools


def test_tabs_count_their_rows_and_the_rows_with_errors(client):
    user = log_in(client, "maintainer")
    issue = make_issue()
    make_test(issue=issue)
    Comment.objects.create(issue=issue, author=user, text="<b>Seen</b> again")
    address = url("issue_change", issue.pk)

    html = client.get(address).text
    tabs = {name: link_to_tab(html, name) for name in ("tests", "feedback", "comments")}
    assert tabs == {"tests": "Tests 1", "feedback": "Feedback 0", "comments": "Comments 1"}
    assert "&lt;b&gt;Seen&lt;/b&gt; again" in html
    assert "you, when you save" in html

    sources = {"sources-TOTAL_FORMS": 1, "sources-0-kind": "", "sources-0-value": "x"}
    html = client.post(address, issue_form(issue, **sources)).text
    assert link_to_tab(html, "sources") == "Sources 0 1"


def test_a_form_without_tabs_has_no_links_to_any(client):
    log_in(client, "admin")
    assert "tabs-items" not in client.get(url("tag_add")).text
