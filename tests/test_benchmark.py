"""The bounds that `dev.py bench reports` holds pages to."""

import pytest

from tests.bench.page_bounds import AT_MOST, Held
from tests.bench.reports import Measured
from tests.bench.workspaces import LARGE, SMALL, Workspace, folder_of


def held(few_queries: int = 9, at_most: float | None = 6.0, **changes) -> Held:
    """A page that takes five times as long as an empty one."""
    fields = {"page": "trend", "status": 200, "queries": 9, "empty_ms": 40.0, "p95_ms": 200.0}
    return Held(Measured(**(fields | changes)), few_queries, at_most)


def test_a_page_holds_on_a_machine_of_any_speed():
    assert held().holds
    assert held(empty_ms=400.0, p95_ms=2000.0).holds


@pytest.mark.parametrize(
    "changes",
    [{"p95_ms": 400.0}, {"status": 500}, {"few_queries": 8}, {"at_most": None}],
    ids=["twice as slow", "an error", "more queries on a larger ledger", "without a bound"],
)
def test_a_page_out_of_its_bounds_does_not_hold(changes):
    assert not held(**changes).holds


def test_every_report_has_a_bound_on_each_engine():
    from reports.registry import PAGES

    for ledger in LARGE:
        bounded = {name.split()[0] for name in AT_MOST[ledger.engine]}
        assert {page.key for page in PAGES} <= bounded


def test_ledgers_of_different_sizes_are_kept_apart():
    assert folder_of(SMALL) != folder_of(Workspace(SMALL.engine, SMALL.runs, SMALL.results + 5))
