"""Fieldsets in tabs, and stacked rows."""

import re

import pytest

from issues.models import Comment
from issues.models import Test as Sample
from tests.factories import make_issue, make_test
from tests.issues.pages import form_of_a_test, log_in, rubric_form, url

pytestmark = pytest.mark.django_db


def open_tab(html):
    return re.search(r"activeFieldsetTab: '([^']*)'", html)[1]


def test_the_tab_with_an_error_is_open_and_counts_it(client):
    log_in(client, "maintainer")
    test = make_test()
    assert open_tab(client.get(url("test_change", test.pk)).content.decode()) == "judging"

    sent = form_of_a_test(issue=test.issue_id, tools="{") | rubric_form()
    sent |= {f"comments-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    html = client.post(url("test_change", test.pk), sent).content.decode()

    assert open_tab(html) == "tools-and-documents"
    assert re.search(r'Tools and documents<span data-testid="error-count"[^>]*>1</span>', html)
    assert Sample.objects.get().tools == test.tools


def test_comments_are_rows_before_one_to_write(client):
    user = log_in(client, "maintainer")
    issue = make_issue()
    Comment.objects.create(issue=issue, author=user, text="<b>Seen</b> again")

    html = client.get(url("issue_change", issue.pk)).content.decode()

    rows = re.findall(r'<div x-sort:item class="[^"]*parent ([^"]*)">', html)
    assert rows == ["original", "template last", "template empty-form"]
    assert "&lt;b&gt;Seen&lt;/b&gt; again" in html
    assert "you, when you save" in html
