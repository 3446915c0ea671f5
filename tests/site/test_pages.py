"""Every page, with no data, a little and much, in both themes, wide and narrow.

What scripts and other hosts do wrong is caught by the `page` fixture's faults.
"""

import re
from itertools import cycle

import pytest
from django.test import Client

from tests.browser import Scheme, overflow_px, show
from tests.factories import make_user
from tests.site.workspaces import addresses, make_empty, make_large_workspace, make_small_workspace

in_browser = pytest.mark.browser
in_database = pytest.mark.django_db(transaction=True)

Look = tuple[Scheme, int]
DARK, LIGHT = ("dark", 390), ("light", 1280)
SIZES = {"nothing": make_empty, "a little": make_small_workspace, "much": make_large_workspace}


def places(user) -> list[str]:
    """Where the sidebar, its pages and tabs lead to, as the command palette lists them."""
    client = Client()
    client.force_login(user)
    html = client.get("/admin/search/").content.decode()
    return list(dict.fromkeys(["/admin/", *re.findall(r'<a [^>]*?href="(/[^"]*)"', html)]))


def problems_of(page, address: str, looks: tuple[Look, Look]) -> list[str]:
    """What is wrong with a page in both looks; it is loaded in the first."""
    reply = page.goto(address)
    found = [f"status {reply.status}"] if not reply.ok else []
    for scheme, width in looks:
        if page.viewport_size["width"] != width:
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
        if not chart.locator("xpath=ancestor::section//table").count():
            found.append(f"no table beside {chart.get_attribute('id')}")
    return found


@in_browser
@in_database
@pytest.mark.parametrize("size", SIZES)
def test_every_page_is_whole_and_as_wide_as_its_window(page, log_in, faults, size):
    SIZES[size]()
    person = make_user("superuser")
    log_in(person)
    problems = {}
    turns = cycle([(LIGHT, DARK), (DARK, LIGHT)])  # each page begins as the last one ended
    for address, looks in zip([*places(person), *addresses().values()], turns, strict=False):
        if found := problems_of(page, address, looks) + faults:
            problems[address] = found.copy()
        faults.clear()

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
