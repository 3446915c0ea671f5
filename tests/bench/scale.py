"""Report pages and lists of the API on very many results, against their own SQL. Prints JSON."""

import json
import sys
from dataclasses import asdict, dataclass
from importlib import import_module

from tests.bench.reports import OK, Measured, addresses, measure
from tests.bench.workspaces import Workspace

RUNS, PER_RUN, RESULTS, ROUNDS = 200, 5_000, 1_000_000, 7
P95_MS, AT_MOST = 1000.0, 1.5
"""Milliseconds of the 95th percentile, and how many times its own SQL a page may take."""


def workspace_of(results: int) -> Workspace:
    """More results are more runs of as many tests, as a site gets them over the years."""
    runs = max(RUNS, results // PER_RUN)
    return Workspace("PostgreSQL", runs, results // runs)


@dataclass(frozen=True)
class Scaled:
    """A page beside its SQL; what the site's empty page takes is no page's own."""

    page: Measured

    @property
    def times_sql(self) -> float:
        return max(0.0, self.page.page_ms - self.page.empty_ms) / max(self.page.bare_ms, 0.1)

    @property
    def holds(self) -> bool:
        is_fast = self.page.p95_ms <= P95_MS
        return self.page.status == OK and is_fast and self.times_sql <= AT_MOST

    def cells(self) -> list[str]:
        page = self.page
        if page.status != OK:
            return [page.page, *[""] * 6, f"NO: status {page.status}"]
        times = (page.empty_ms, page.bare_ms, page.page_ms, page.p95_ms)
        return [
            page.page,
            str(page.queries),
            *(f"{each:.0f}" for each in times),
            f"{self.times_sql:.2f}",
            "yes" if self.holds else "NO",
        ]


def api_lists() -> dict[str, str]:
    from runs.models import Run

    newest = Run.objects.filter(suite__name="Everything").order_by("-pk")[0]
    return {
        "api results": "/api/v1/results/?page_size=100",
        "api results of a run": f"/api/v1/results/?run={newest.pk}&page_size=100",
        "api failed results": "/api/v1/results/?outcome=failed&page_size=100",
        "api runs": "/api/v1/runs/?page_size=100",
        "list of results": "/admin/runs/result/",
        "list of failed results": "/admin/runs/result/?outcome=failed",
    }


def main(wanted: list[str]) -> None:
    """Measure all, or those whose names begin with one of the arguments."""
    import_module("evalhub.wsgi")  # as the server does
    found = [
        measure(name, address, rounds=ROUNDS)
        for name, address in (addresses() | api_lists()).items()
        if not wanted or any(name.startswith(word) for word in wanted)
    ]
    sys.stdout.write(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(sys.argv[1:])
