"""The page of the API's schema, in a real browser under our content security policy."""

from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.browser

STEP_PX = 350
NAMES = "[...document.querySelectorAll('.opblock')].map((block) => block.id)"


def scrolled(page) -> Iterator[list[str]]:
    """The operations that are drawn, window by window: only those in sight are."""
    page.wait_for_selector(".opblock-summary-path", timeout=20_000)
    y = 0
    while y < page.evaluate("document.documentElement.scrollHeight"):
        page.evaluate(f"window.scrollTo(0, {y})")
        page.wait_for_timeout(60)
        yield page.evaluate(NAMES)
        y += STEP_PX


def test_the_schema_can_be_read_and_tried(page):
    page.goto("/api/docs/")

    # Console errors and requests to other hosts fail the test by themselves.
    assert len({name for names in scrolled(page) for name in names}) > 60
    wanted = "operations-runs-runs_list"
    assert any(wanted in names for names in scrolled(page))
    page.locator(f"#{wanted} .opblock-summary").first.click()
    page.wait_for_selector(f"#{wanted} .parameters")
