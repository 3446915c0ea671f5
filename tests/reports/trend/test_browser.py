"""Trend, heat map and runs one by one in a real browser: what is drawn, and what it leads to."""

import pytest
from django.urls import reverse

from tests.browser import show
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_computed(page, address):
    """Open a report and wait for the figures that it requests later, which redraw its charts."""
    page.goto(address)
    page.locator("#report[data-pending='0']").wait_for()


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
