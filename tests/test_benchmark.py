"""The bounds that `dev.py bench reports` holds pages to."""

import pytest

from tests.bench.__main__ import report_cells
from tests.bench.reports import Measured
from tests.bench.workspaces import SMALL, Workspace, folder_of


def measured(**changes) -> Measured:
    """A page of which half a millisecond more would be too much."""
    fields = {"page": "trend", "status": 200, "queries": 9, "bare_ms": 100.0, "page_ms": 199.5}
    return Measured(**(fields | {"p95_ms": 300.0} | changes))


def test_a_page_may_take_half_as_long_again_as_its_sql_and_50_ms():
    # 1.5 × 100 ms + 50 ms = 200 ms.
    assert measured().holds


@pytest.mark.parametrize("changes", [{"page_ms": 200.5}, {"p95_ms": 1001.0}, {"status": 500}])
def test_a_page_out_of_its_bound_does_not_hold(changes):
    assert not measured(**changes).holds


def test_a_page_with_more_queries_on_a_larger_ledger_does_not_hold():
    assert report_cells(measured(), few_queries=8)[0::6] == ["8 → 9", "NO"]


def test_a_page_with_as_many_queries_holds():
    assert report_cells(measured(), few_queries=9)[0::6] == ["9", "yes"]


def test_ledgers_of_different_sizes_are_kept_apart():
    assert folder_of(SMALL) != folder_of(Workspace(SMALL.engine, SMALL.runs, SMALL.results + 5))
