"""Filters and columns of the admin's lists."""

import re
from html import unescape

import pytest
from django.urls import reverse

from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db
TESTS = "/admin/issues/test/"
MODELS = "/admin/evalhub/languagemodel/"
HIDE = {"model": "issues.test", "column": ["issue", "tag_names"], "shown": ["issue"]}


def page(client, address, **query):
    return client.get(address, query).content.decode()


def chip(html: str, title: str) -> str:
    chips = html.split('<div class="eh-chip')[1:]
    return next(each for each in chips if f">{title}<" in each or f"<summary>{title} " in each)


def test_a_filter_in_the_address_is_a_chip_that_can_be_cleared(client):
    client.force_login(make_user("viewer"))
    html = page(client, "/admin/issues/issue/", severity__exact="high", q="sum")
    severity = chip(html, "Severity")

    assert re.search(r'<option value="high" selected>', severity)
    assert 'href="?q=sum"' in severity
    assert "eh-chip-clear" not in chip(html, "State")


def test_an_unknown_value_of_a_filter_is_named(client):
    client.force_login(make_user("viewer"))
    html = page(client, "/admin/issues/issue/", severity__exact="dire", q="sum")

    assert "dire is not one of the available choices" in html
    assert '<a class="eh-link" href="?q=sum">' in html
    assert "available choices" not in page(client, "/admin/issues/issue/", severity__exact="high")
    make_issue(title="Sums")
    for address, query in (
        ("/admin/issues/feedback/", {"issue__id__exact": "999999"}),
        ("/admin/issues/issue/", {"domain": "999999"}),  # of no choices at all
        ("/admin/runs/run/", {"suite__id__exact": "999999"}),
        ("/admin/issues/librarycriterion/", {"origin": "nowhere"}),
    ):
        response = client.get(address, query)
        assert response.context["cl"].result_count == 0
        assert "Select a valid choice" in response.content.decode()


def test_what_was_searched_stays_when_a_filter_is_chosen(client):
    client.force_login(make_user("viewer"))
    html = page(client, "/admin/issues/issue/", q="sum", p="2")
    chips = html.partition('<form class="eh-chips"')[2].partition("</form>")[0]

    assert '<input type="hidden" name="q" value="sum">' in chips
    assert 'name="p"' not in chips


def test_a_switch_is_a_chip_with_links(client):
    client.force_login(make_user("viewer"))
    active = chip(page(client, MODELS, is_active__exact="1"), "Active")

    assert 'href="?is_active__exact=0"' in active
    assert re.search(r'aria-current="true">Yes<', active)


def quick(html):
    """The filters by one click: text, address, and whether it is taken."""
    found = re.findall(r'<a class="eh-chip eh-chip--quick[^>]*>[^<]*', html)
    return {
        one.partition(">")[2]: (
            unescape(re.search(r'href="([^"]*)"', one)[1]),
            "aria-current" in one,
        )
        for one in found
    }


def test_ones_own_rows_are_one_click_away_and_back(client):
    anna, ben = make_user("annotator"), make_user("annotator")
    theirs = make_issue(author=ben)
    mine = make_issue(author=anna, state="draft")
    assigned = make_issue(author=ben, assignee=anna)
    tests = [make_test(issue=issue, author=issue.author) for issue in (theirs, mine, assigned)]
    client.force_login(anna)

    def rows(address):
        return set(client.get(address).context["cl"].queryset)

    issues = quick(page(client, "/admin/issues/issue/", q="x", author=ben.pk))
    assert list(issues) == ["My drafts", "Assigned to me", "My issues"]
    assert issues["My issues"] == ("?author=me&q=x", False)
    issues = quick(page(client, "/admin/issues/issue/"))
    found = [rows(f"/admin/issues/issue/{address}") for address, _ in issues.values()]
    assert found == [{mine}, {assigned}, {mine}]
    of_tests = quick(page(client, TESTS))
    assert list(of_tests) == ["My drafts", "Assigned to me", "My tests"]
    found = [rows(f"{TESTS}{address}") for address, _ in of_tests.values()]
    assert found == [set(), {tests[2]}, {tests[1]}]
    assert quick(page(client, TESTS, author="me"))["My tests"] == ("?", True)


def test_who_only_reads_has_no_rows_of_their_own(client):
    client.force_login(make_user("viewer"))

    assert quick(page(client, TESTS)) == {}


def test_hidden_columns_are_those_of_one_user_and_one_list(client):
    annotator = make_user("annotator")
    client.force_login(annotator)
    response = client.post(reverse("admin:choose_columns"), {**HIDE, "query": "q=sum"})

    assert response.url == f"{TESTS}?q=sum"
    assert ".field-tag_names" in page(client, TESTS)
    assert ".field-" not in page(client, "/admin/issues/issue/")
    client.force_login(make_user("annotator"))
    assert ".field-" not in page(client, TESTS)


@pytest.mark.parametrize(("model", "status"), [("issues.nothing", 404), ("evalhub.user", 403)])
def test_columns_of_a_list_that_one_may_not_see_are_refused(client, model, status):
    client.force_login(make_user("viewer"))

    assert client.post(reverse("admin:choose_columns"), {"model": model}).status_code == status


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_filters_apply_at_once_and_columns_are_hidden_by_clicks(page, log_in):
    make_issue(title="Adds wrongly", severity="high")
    make_issue(title="Rounds wrongly", severity="low")
    log_in(make_user("annotator"))
    page.goto("/admin/issues/issue/")
    page.get_by_role("combobox", name="Severity").select_option("High")
    page.wait_for_url("**severity__exact=high**")
    page.get_by_text("Rounds wrongly").wait_for(state="detached")

    page.get_by_label("Clear the filter Severity").click()
    page.get_by_text("Rounds wrongly").wait_for()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="State").uncheck()
    page.keyboard.press("Escape")
    page.get_by_text("1 hidden").wait_for()

    assert not page.locator("td.field-state_label").first.is_visible()
