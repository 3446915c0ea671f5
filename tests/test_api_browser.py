"""The page of the API's schema, in a real browser under our content security policy."""

import pytest

pytestmark = pytest.mark.browser

TALL = {"width": 1280, "height": 20_000}
"""A window with the whole page in sight: operations beyond it are not drawn."""

MANY_DRAWN = "document.querySelectorAll('.opblock').length > 60"


def test_the_schema_can_be_read_and_tried(page):
    page.set_viewport_size(TALL)
    page.goto("/api/docs/")

    # Console errors and requests to other hosts fail the test by themselves.
    page.wait_for_function(MANY_DRAWN)
    wanted = page.locator("#operations-runs-runs_list")
    wanted.locator(".opblock-summary").first.click()
    wanted.locator(".parameters").first.wait_for()
    assert wanted.get_by_role("button", name="Try it out").is_visible()
