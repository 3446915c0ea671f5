"""Every page, with no data, a little and much, in both themes, wide and narrow, to everybody.

What scripts and other hosts do wrong is caught by the `page` fixture's faults.
"""

import re

import pytest
from django.test import Client

from tests.axe import violations
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_user
from tests.site.workspaces import addresses, make_empty, make_large_workspace, make_small_workspace

in_browser = pytest.mark.browser
in_database = pytest.mark.django_db(transaction=True)

SIZES = {"nothing": make_empty, "a little": make_small_workspace, "much": make_large_workspace}
PARTS = [("a little", n, 3) for n in range(3)] + [("much", n, 2) for n in range(2)]
PARTS.append(("nothing", 0, 1))
"""Tests that deal the pages of a size out among them, so that several processes can look."""

TALL = {"width": 1280, "height": 6000}
"""A window in which nothing that sticks to its bottom hides parts of forms from axe."""


def places(user) -> list[str]:
    """Where the sidebar, its pages and tabs lead to, as the command palette lists them."""
    client = Client()
    client.force_login(user)
    html = client.get("/admin/search/").content.decode()
    return list(dict.fromkeys(["/admin/", *re.findall(r'<a [^>]*?href="(/[^"]*)"', html)]))


def problems_of(page, address: str, *, axe: bool) -> list[str]:
    """What is wrong with a page, which is loaded once; `axe` says whether it is asked too."""
    reply = page.goto(address)
    found = [] if reply.ok else [f"status {reply.status}"]
    if axe:
        if page.locator("#swagger-ui").count():
            page.wait_for_selector(".opblock", timeout=20_000)
        page.set_viewport_size(TALL)
        found += violations(page)
    for width, scheme in zip(HEIGHTS, ("light", "dark"), strict=True):
        show(page, width=width, scheme=scheme)
        if over := overflow_px(page):
            found.append(f"{over} px too wide at {width}")
    return found + undrawn(page)


def undrawn(page) -> list[str]:
    """Charts that Plotly did not draw, or that have no table with their numbers."""
    found = []
    page.locator("#report[data-pending='1']").wait_for(state="detached")
    for chart in page.locator(".eh-chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        key = str(chart.get_attribute("id")).removeprefix("chart-")
        if not page.locator(f"table[data-table='{key}']").count():
            found.append(f"no table of {key}")
    return found


@in_browser
@in_database
@pytest.mark.parametrize(("size", "part", "parts"), PARTS)
def test_every_page_is_whole_and_as_wide_as_its_window(page, log_in, faults, size, part, parts):
    SIZES[size]()
    person = make_user("superuser")
    log_in(person)
    problems = {}
    for address in list(dict.fromkeys([*places(person), *addresses().values()]))[part::parts]:
        if found := problems_of(page, address, axe=size == "a little") + faults:
            problems[address] = found.copy()
        faults.clear()
        shoot(page, f"{size}-{re.sub(r'[^a-z0-9]+', '-', address)}")

    assert problems == {}


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["viewer", "annotator", "maintainer"])
def test_the_navigation_leads_a_role_only_to_pages_that_open(client, role):
    make_small_workspace()
    person = make_user(role)
    client.force_login(person)
    statuses = {address: client.get(address).status_code for address in places(person)}

    assert len(statuses) > 15
    assert set(statuses.values()) == {200}
