"""Judges in a real browser: figures that take long come by themselves, and a cell opens."""

import pytest
from django.urls import reverse

from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.reports.judge_reliability.humans.test_page import DRAWN, calibrated
from tests.reports.judged_runs import judged

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TABS = ("judges", "humans")


def look(enter, tab, *, state):
    """The page with all its figures, in both themes and at both widths."""
    enter.goto(f"{reverse('reports:judge_reliability')}?tab={tab}")
    enter.locator("#report[data-pending='0']").wait_for()
    shoot(enter, f"reports-judge_reliability-{tab}-{state}")
    for width in HEIGHTS:
        show(enter, width=width)
        assert overflow_px(enter) == 0


def test_a_cell_of_the_matrix_opens_its_answers(enter):
    calibrated(**DRAWN)
    judged([1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0])
    for tab in TABS:
        look(enter, tab, state="many")
    for chart in enter.locator(".eh-chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
    enter.get_by_role("link", name="the judge failed, humans passed").click()
    enter.wait_for_url("**cell=false_fail**")
    enter.locator("#report[data-pending='0']").wait_for()

    assert enter.locator("#answers tbody tr").count() == 1
    assert "that they checked blind" in enter.locator(".eh-sentences").first.inner_text()
