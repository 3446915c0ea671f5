"""Leaderboard, drift and capabilities in a real browser: read, re-ranked, and looked at."""

import pytest
from django.core.cache import caches

from reports.capabilities.defaults import load_defaults
from reports.models import Capability, CapabilityWeight
from runs.models import Result
from tests.browser import overflow_px, shoot, show
from tests.factories import make_model, make_test, make_user
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SUITES = 6
PAGES = ("/reports/leaderboard/?least=3", "/reports/drift/", "/reports/capabilities/")


@pytest.fixture
def enter(page, log_in):
    caches["computed"].clear()
    load_defaults(Capability, CapabilityWeight)
    log_in(make_user("superuser"))
    return page


@pytest.fixture
def many():
    """Two models in six suites of reasoning, twice in each; one scored less in the first."""
    test = make_test()
    good, bad = make_model(name="openai/gpt-4o-2024-08-06"), make_model(name="xai/grok-4")
    for n in range(SUITES):
        name = "math-word-problems" if n == 1 else f"Suite {n}"
        suite = make_suite(test, name=name, tags=("reasoning",))
        for days_ago in (2, 0):
            drifted = 0.3 if n == 0 and days_ago == 0 else 0.0
            for model, score, similarity in ((good, 0.9 - drifted, 0.1), (bad, 0.5 + n / 50, 0.9)):
                run = scored_run(suite, model, score, tests=[test], days_ago=days_ago)
                Result.objects.filter(run=run).update(similarity=similarity)


def rows(page, table):
    """The texts of the cells of a table, row by row."""
    page.locator(f"table[data-table={table}]").wait_for()
    lines = page.locator(f"table[data-table={table}] tbody tr")
    cells = (line.locator("th, td").all_inner_texts() for line in lines.all())
    return [[text.strip() for text in line] for line in cells]


def test_leaderboard_is_read_ranked_anew_and_opened(enter, many):
    enter.goto(PAGES[0])
    enter.wait_for_function("document.getElementById('report').dataset.pending === '0'")
    assert [row[2] for row in rows(enter, "ranking")] == ["gpt-4o", "grok-4"]
    assert enter.locator("#chart-ranking svg").count() > 0

    enter.locator("input[name=beta]").fill("0.9")
    enter.wait_for_url("**beta=0.9**")
    assert [row[2] for row in rows(enter, "ranking")] == ["grok-4", "gpt-4o"]
    assert "Exploratory" in enter.locator("#report").inner_text()

    enter.get_by_role("link", name="gpt-4o").click()
    enter.wait_for_url("**model=openai**")
    opened = rows(enter, "variants")
    assert len(opened) == SUITES
    assert {row[1] for row in opened} == {"openai/gpt-4o-2024-08-06"}


def test_drift_and_capabilities_fit_every_window(enter, many):
    enter.goto(PAGES[1])
    enter.locator("#report[data-pending='0']").wait_for()
    (far,) = rows(enter, "drifts")
    # Its one test is no evidence of a direction.
    assert far[:4] == ["openai/gpt-4o-2024-08-06", "Suite 0", "—", "−0.3"]
    assert overflow_px(enter) == 0
    shoot(enter, "drift")
    enter.goto(PAGES[2])
    assert [row[0] for row in rows(enter, "overview")] == ["gpt-4o", "grok-4"]
    shoot(enter, "capabilities")
    for width in (390, 1280):
        show(enter, width=width)
        assert overflow_px(enter) == 0
    enter.locator("table[data-table=overview] a").first.click()
    enter.wait_for_url("**model=**")
    assert [row[1] for row in rows(enter, "components")] == ["topic"] * (SUITES - 1) + ["suite"]
