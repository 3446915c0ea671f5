"""That a browser test sees what goes wrong on its pages."""

import pytest

from tests.browser import overflow_px, show
from tests.factories import make_user

pytestmark = pytest.mark.browser


def test_a_console_error_is_a_fault(page, faults):
    page.evaluate("console.error('chart has no data')")
    page.wait_for_timeout(100)

    assert any("chart has no data" in fault for fault in faults)
    faults.clear()


def test_an_uncaught_error_is_a_fault(page, faults):
    page.evaluate("setTimeout(() => { throw new Error('undefined chart') })")
    page.wait_for_timeout(100)

    assert any("undefined chart" in fault for fault in faults)
    faults.clear()


def test_a_request_to_another_host_is_a_fault(page, faults):
    page.set_content("<img src='http://127.0.0.2:8000/logo.png'>")
    page.wait_for_timeout(100)

    assert "request to another host: http://127.0.0.2:8000/logo.png" in faults
    faults.clear()


def test_a_page_wider_than_its_window_is_noticed(page):
    page.set_content("<div style='width: 600px'>wide</div>")
    show(page, width=390)

    assert overflow_px(page) > 0


@pytest.mark.journey
def test_logging_in_by_cookie_opens_the_admin(page, log_in):
    log_in(make_user("superuser"))
    page.goto("/admin/")

    assert page.url.endswith("/admin/")
