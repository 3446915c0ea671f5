"""The bounds that `dev.py bench reports` holds pages to."""

from tests.bench.page_bounds import Held, cpu_bound
from tests.bench.reports import Measured
from tests.bench.workspaces import LARGE, SMALL, Workspace, folder_of


def holds(few_queries: int | None = 9, **changes) -> bool:
    fields = {"page": "trend", "status": 200, "queries": 9, "cpu_ms": 140.0, "p95_ms": 900.0}
    return Held(Measured(**(fields | changes)), few_queries, cpu_bound(LARGE[0])).holds


def test_a_page_out_of_a_bound_does_not_hold():
    assert holds()
    assert holds(few_queries=None)
    assert not holds(few_queries=8)
    for change in ({"cpu_ms": 160.0}, {"p95_ms": 1100.0}, {"status": 500}):
        assert not holds(**change), change


def test_workspaces_of_different_sizes_are_kept_apart():
    assert folder_of(SMALL) != folder_of(Workspace(SMALL.engine, SMALL.runs, SMALL.results + 5))
