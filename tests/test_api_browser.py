"""The page of the API's schema, in a real browser under our content security policy."""

import pytest

pytestmark = pytest.mark.browser


def test_the_schema_can_be_read_and_tried(page):
    page.goto("/api/docs/")
    page.wait_for_selector(".opblock-summary-path", timeout=20_000)

    # Console errors and requests to other hosts fail the test by themselves.
    assert page.locator(".opblock").count() > 60
    page.locator("#operations-runs-runs_list .opblock-summary").first.click()
    page.wait_for_selector("#operations-runs-runs_list .parameters")
