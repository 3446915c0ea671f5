"""From a failed run to a suite in a real browser: clusters are accepted, tests selected."""

import pytest
from django.urls import reverse

from issues.models import Issue
from runs.models import Suite
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_issue, make_user
from tests.reports.failure_clusters.test_page import REASONS, run_with

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_accept_a_cluster_and_make_a_living_suite(page, log_in):
    make_issue(title="Day and month of a date are confused")
    run = run_with(REASONS)
    log_in(make_user("superuser"))
    page.goto(run.get_absolute_url())
    page.get_by_role("link", name="Failure clusters").click()
    shoot(page, "failure-clusters")
    for width in HEIGHTS:
        show(page, width=width)
        assert overflow_px(page) <= 0, width
    show(page)

    cluster = page.locator("section.eh-panel", has_text="swaps day and month")
    cluster.get_by_label("Title").fill("Reads the month first")
    cluster.get_by_label("Title").press("Enter")
    page.get_by_text("Draft issue “Reads the month first” created with 5").wait_for()
    assert Issue.objects.get(title="Reads the month first").feedback.count() == 5
    assert page.get_by_role("button", name="Create issue").count() == 2

    page.get_by_role("button", name="Dismiss").first.click()
    page.get_by_text("Dismissed:").wait_for()
    shoot(page, "failure-clusters-decided")
    page.get_by_role("button", name="Undo: ").last.click()
    page.get_by_text("Undone:").wait_for()
    assert page.get_by_role("button", name="Create issue").count() == 2

    select_two_tests(page)
    page.get_by_label("New suite").fill("Two tests")
    page.get_by_role("button", name="Save suite").click()
    page.get_by_text("Suite created").wait_for()
    assert Suite.objects.get(name="Two tests").tests.count() == 2

    select_two_tests(page)
    page.get_by_label("New suite").fill("Approved tests")
    page.get_by_label("Living: at each launch").check()
    page.get_by_role("button", name="Save suite").click()
    page.get_by_text("Living suite created: state: Approved.").wait_for()
    assert Suite.objects.get(name="Approved tests").filter == "state=approved"
    page.get_by_text("39 tests of 39: only approved ones run").wait_for()
    shoot(page, "living-suite")


def select_two_tests(page):
    page.goto(reverse("admin:issues_test_changelist") + "?state=approved")
    for box in page.locator("input.action-select").all()[:2]:
        box.check()
    page.locator("select[name=action]").select_option(label="Make a suite …")
    page.get_by_role("button", name="Run", exact=True).click()
