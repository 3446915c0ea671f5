"""Possible duplicates beside the form of new feedback, in a real browser."""

import pytest

from tests.browser import overflow_px, shoot, show
from tests.factories import make_issue

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_duplicate_is_found_while_one_types_and_filled_in(enter):
    issue = make_issue(title="Rounds currency amounts too early", tags=("Money",))
    enter.goto("/admin/issues/feedback/add/")
    enter.get_by_text("appear here as you type").wait_for()
    enter.locator("[name=comment]").press_sequentially("The currency is rounded too early")
    enter.get_by_text("1 similar:").wait_for()
    shoot(enter, "similar")
    show(enter, width=390)
    assert overflow_px(enter) <= 0
    enter.get_by_role("button", name="Evidence of the issue").click()
    enter.get_by_text("Filled in: Rounds currency").wait_for()
    assert enter.locator("select[name=issue]").input_value() == str(issue.pk)
