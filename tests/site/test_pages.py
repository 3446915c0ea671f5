"""Every page, with no data, a little and much, in both themes, wide and narrow.

What scripts and other hosts do wrong is caught by the `page` fixture's faults.
"""

import pytest

from tests.browser import Scheme, overflow_px, show
from tests.factories import make_user
from tests.site.ledger import addresses, make_little, make_much, make_nothing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOOKS: tuple[tuple[Scheme, int], ...] = (("dark", 390), ("light", 1280))
SIZES = {"nothing": make_nothing, "a little": make_little, "much": make_much}


def sidebar(page) -> list[str]:
    """Where the sidebar leads to, its folded groups too."""
    page.goto("/admin/")
    links = page.locator("#nav-sidebar a[href^='/']").all()
    return list(dict.fromkeys(link.get_attribute("href") for link in links))


def problems_of(page, address: str) -> list[str]:
    reply = page.goto(address)
    found = [f"status {reply.status}"] if not reply.ok else []
    for scheme, width in LOOKS:
        show(page, width=width, scheme=scheme)
        if over := overflow_px(page):
            found.append(f"{over} px too wide at {width}")
    return found + undrawn(page)


def undrawn(page) -> list[str]:
    """Charts that Plotly did not draw, or that have no table with their numbers."""
    found = []
    for chart in page.locator(".eh-chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        if not chart.locator("xpath=ancestor::section//table").count():
            found.append(f"no table beside {chart.get_attribute('id')}")
    return found


@pytest.mark.parametrize("size", SIZES)
def test_every_page_is_whole_and_as_wide_as_its_window(page, log_in, faults, size):
    SIZES[size]()
    log_in(make_user("superuser"))
    problems = {}
    for address in [*sidebar(page), *addresses().values()]:
        if found := problems_of(page, address) + faults:
            problems[address] = found.copy()
        faults.clear()

    assert problems == {}


@pytest.mark.parametrize("role", ["viewer", "annotator", "maintainer"])
def test_the_sidebar_leads_a_role_only_to_pages_that_open(page, log_in, role):
    make_little()
    log_in(make_user(role))
    statuses = {address: page.request.get(address).status for address in sidebar(page)}

    assert len(statuses) > 5
    assert set(statuses.values()) == {200}


def test_the_api_s_documentation_works_under_the_content_policy(page, log_in):
    log_in(make_user("superuser"))
    page.goto("/api/docs/")
    page.locator(".opblock-summary", has_text="/api/v1/runs/").first.wait_for()

    assert page.locator(".opblock").count() > 20
