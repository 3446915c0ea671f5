"""Trend, heat map and runs one by one in a real browser: what is drawn, and that it fits."""

import pytest
from django.urls import reverse

from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_user
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = ("trend", "heatmap", "run_details")
ALL = {"trend": "?each=on"}
"""What else a page can show."""

SIDEWAYS = 0
"""Pixels that a page may be wider than its window."""


@pytest.fixture
def enter(page, log_in):
    log_in(make_user("superuser"))
    return page


def open_computed(page, address):
    """Open a report and wait for the figures that it requests later, which redraw its charts."""
    page.goto(address)
    page.locator("#report[data-pending='0']").wait_for()


def draw_all(page):
    for chart in page.locator(".eh-chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()


@pytest.mark.parametrize("releases", [0, 1, 3], ids=["nothing", "little", "much"])
def test_every_page_fits_in_both_themes_and_widths(enter, releases):
    if releases:
        make_workspace(releases=releases)
    for key in PAGES:
        open_computed(enter, reverse(f"reports:{key}") + ALL.get(key, ""))
        draw_all(enter)
        for width in HEIGHTS:
            for scheme in ("light", "dark"):
                show(enter, width=width, scheme=scheme)
                assert overflow_px(enter) <= SIDEWAYS, f"{key} at {width} px, {scheme}"
        if releases == 3:
            shoot(enter, key)


def test_a_model_has_its_line_in_the_colour_of_the_theme_and_gives_an_svg(enter):
    make_workspace(releases=3)
    open_computed(enter, reverse("reports:trend"))
    line = enter.locator("#chart-points .scatterlayer .js-line").first
    line.wait_for()
    light = line.evaluate("path => getComputedStyle(path).stroke")
    show(enter, scheme="dark")
    enter.wait_for_function(
        "old => getComputedStyle(document.querySelector("
        "'#chart-points .scatterlayer .js-line')).stroke !== old",
        arg=light,
    )
    with enter.expect_download() as download:
        enter.locator("#chart-points").hover()
        enter.locator("#chart-points [data-title='Download plot as an SVG']").click()

    assert download.value.suggested_filename == "trend-points.svg"
    assert download.value.path().read_text().startswith("<svg")


def test_a_cell_of_the_heat_map_opens_its_results(enter):
    ledger = make_workspace(releases=3)
    enter.goto(reverse("reports:heatmap"))
    row = enter.locator("[data-table=map] tbody tr", has_text=ledger.issues[2].title)
    row.locator("td a").first.click()
    enter.wait_for_url("**/reports/runs/**")

    assert f"issue={ledger.issues[2].pk}" in enter.url
    assert enter.locator("#results-grid [data-row]").count() == 2
