"""Tabs that are read when they are opened, in a browser."""

import pytest

from tests.axe import violations
from tests.browser import overflow_px, show
from tests.factories import make_issue, make_template, make_test, make_user
from tests.issues.pages import url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LINK = 'nav#tabs-items a[href="#tests"]'


@pytest.fixture
def issue(page, log_in):
    log_in(make_user("maintainer"))
    issue = make_issue(title="Counts wrongly")
    for number in range(21):
        make_test(f"Question {number}.", issue=issue)
    return issue


@pytest.mark.journey
def test_a_tab_is_opened_by_keys_and_its_rows_follow(page, issue):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url("issue_change", issue.pk))
    page.locator("#tests-group").wait_for(state="hidden")
    assert not any("/tab/" in address for address in asked)
    page.locator(LINK).focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Question 20.").wait_for()
    assert violations(page) == []
    show(page, width=390)
    assert overflow_px(page) == 0
    page.locator("#tests-group").get_by_role("link", name="2", exact=True).click()
    page.get_by_role("link", name="Question 0.").wait_for()
    assert page.url.endswith("?tests-page=2#tests")
    page.reload()
    page.get_by_role("link", name="Question 0.").wait_for()


def test_a_link_to_a_tab_opens_it(page, issue):
    page.goto(url("issue_change", issue.pk) + "#tests")
    newest = page.get_by_role("link", name="Question 20.")
    newest.wait_for()
    assert newest.is_visible()
    assert page.locator("#tests-group").get_by_role("status").count() == 0


def test_a_tab_that_cannot_be_read_says_so_and_is_read_again(page, issue, faults):
    page.goto(url("issue_change", issue.pk))
    page.route("**/tab/tests/", lambda route: route.abort())
    page.locator(LINK).click()
    failure = page.get_by_role("alert").filter(has_text="The tests could not be loaded.")
    failure.wait_for()
    assert violations(page) == []
    page.unroute("**/tab/tests/")
    faults.clear()
    failure.get_by_role("button", name="Try again").click()
    page.get_by_role("link", name="Question 20.").wait_for()
    assert not failure.is_visible()


def test_the_rows_of_somebody_who_is_logged_out_are_not_the_login(page, issue):
    page.goto(url("issue_change", issue.pk))
    page.context.clear_cookies()
    page.locator(LINK).click()
    page.get_by_role("alert").filter(has_text="The tests could not be loaded.").wait_for()
    assert page.locator("#tests-group input").count() == 0


def test_a_link_to_a_tab_on_its_own_page_opens_it(page, issue):
    page.goto(url("issue_change", issue.pk))
    group = page.locator("#tests-group")
    group.wait_for(state="hidden")
    page.evaluate("location.hash = '#tests'")
    group.get_by_role("link", name="Question 20.").wait_for()
    page.evaluate("location.hash = '#content-start'")
    assert group.is_visible()
    page.go_back()
    page.go_back()
    group.wait_for(state="hidden")
    assert page.locator("#id_title").is_visible()


def test_the_badge_of_a_state_is_not_broken(page, log_in):
    log_in(make_user("maintainer"))
    title = "Input, output, reference, guidelines and the rubric as a whole, one by one"
    test = make_test("Which year was it? " * 40, template=make_template(title=title))
    page.goto(url("issue_change", test.issue_id) + "#tests")
    badge = page.locator("#tests-group .eh-badge")
    badge.wait_for()
    cell = badge.locator("xpath=ancestor::td").bounding_box()
    box = badge.bounding_box()
    assert box["height"] < 30
    assert box["x"] + box["width"] <= cell["x"] + cell["width"]
