"""The links to the tabs of a form's page are what the theme's templates make of them."""

import pytest
from django.test.html import parse_html
from unfold.templatetags.unfold import tab_list

from evalhub.admin_site.page_tabs import tab_links_of
from issues.models import Comment
from tests.factories import make_issue, make_test
from tests.issues.pages import form_of_a_test, issue_form, log_in, rubric_form, url

pytestmark = pytest.mark.django_db


def shown(response):
    """Ours and the theme's, of a page and of the same with its errors."""
    context = response.context[-1]
    theirs = tab_list(context, "changeform", context["opts"])
    ours = tab_links_of(context["adminform"], context["inline_admin_formsets"])
    assert str(ours) in response.content.decode()
    return parse_html(ours), parse_html(theirs)


def test_the_tabs_count_their_rows(client):
    user = log_in(client, "maintainer")
    issue = make_issue()
    make_test(issue=issue)
    Comment.objects.create(issue=issue, author=user, text="Seen again")

    ours, theirs = shown(client.get(url("issue_change", issue.pk)))

    assert ours == theirs


def test_the_tabs_count_forms_with_errors(client):
    log_in(client, "maintainer")
    issue, test = make_issue(), make_test()
    sources = {"sources-TOTAL_FORMS": 1, "sources-0-kind": "", "sources-0-value": "x"}
    for page, sent in (
        (url("issue_change", issue.pk), issue_form(issue, title="", **sources)),
        (url("test_change", test.pk), form_of_a_test(**rubric_form({"weight": "?"}))),
    ):
        ours, theirs = shown(client.post(page, sent))

        assert ours == theirs
        assert "bg-red-500" in str(ours)


def test_a_form_without_tabs_has_no_links(client):
    log_in(client, "admin")
    html = client.get(url("tag_add")).content.decode()
    assert "tabs-items" not in html
