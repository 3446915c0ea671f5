"""Report pages, lists, exports and tallies on very many results. Prints JSON.

Pages and lists are measured beside their own SQL, as `tests.bench.reports` does.
"""

import json
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from tests.bench.exports import measure as measure_export
from tests.bench.reports import OK, Measured, addresses, measure
from tests.bench.tally_proof import prove
from tests.bench.workspaces import Workspace

RUNS, PER_RUN, RESULTS, ROUNDS = 200, 5_000, 1_000_000, 7
P95_MS, AT_MOST, MORE, LEAST = 1000.0, 1.5, 6, 12
"""Milliseconds of the 95th percentile; and of a page without the frame, which may take so many
times its own SQL and so many empty pages more, or so many empty pages in all."""


def workspace_of(results: int) -> Workspace:
    """More results are more runs of as many tests, as a site gets them over the years."""
    runs = min(RUNS, max(4, results // PER_RUN))
    copies = max(0, results // (RUNS * PER_RUN) - 1)
    return Workspace("PostgreSQL", runs, min(PER_RUN, results // runs), copies)


@dataclass(frozen=True)
class Scaled:
    """A page beside its SQL; what the site's empty page takes is no page's own."""

    page: Measured

    @property
    def own_ms(self) -> float:
        return max(0.0, self.page.page_ms - self.page.empty_ms)

    @property
    def times_sql(self) -> float:
        return self.own_ms / max(self.page.bare_ms, 0.1)

    @property
    def of_bound(self) -> float:
        """What the page takes without the frame, as a share of what it may take."""
        sql, empty = self.page.bare_ms, self.page.empty_ms
        return self.own_ms / max(LEAST * empty, AT_MOST * sql + MORE * empty)

    @property
    def holds(self) -> bool:
        is_fast = self.page.p95_ms <= P95_MS and self.of_bound <= 1
        return self.page.status == OK and is_fast

    def cells(self) -> list[str]:
        page = self.page
        if page.status != OK:
            return [page.page, *[""] * 7, f"NO: status {page.status}"]
        times = (page.empty_ms, page.bare_ms, page.page_ms, page.p95_ms)
        return [
            page.page,
            str(page.queries),
            *(f"{each:.0f}" for each in times),
            f"{self.times_sql:.2f}",
            f"{self.of_bound:.2f}",
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
        "list of results, page 400": "/admin/runs/result/?p=400",
        "list of failed results": "/admin/runs/result/?outcome=failed",
        "api human evaluations": "/api/v1/human-evaluations/?page_size=100",
    }


def main(wanted: list[str]) -> None:
    """Measure all, or the pages whose names begin with one of the arguments."""
    import_module("evalhub.wsgi")  # as the server does
    count_all()
    pages = [
        asdict(measure(name, address, rounds=ROUNDS))
        for name, address in (addresses() | api_lists()).items()
        if not wanted or any(name.startswith(word) for word in wanted)
    ]
    found: dict[str, Any] = {"pages": pages, "exports": [], "proof": None}
    if not wanted:
        found |= {"exports": exports(), "proof": asdict(prove())}
    sys.stdout.write(json.dumps(found))


def count_all() -> None:
    """Count the runs, as workers do while the site grows."""
    from runs.figures.run_tallies import count_run, uncounted
    from tests.sample_data.bulk_insert import tidy

    runs = list(uncounted().values_list("pk", flat=True))
    for run in runs:
        count_run(run)
    if runs:
        tidy()


def exports() -> list[dict[str, Any]]:
    from runs.api.export_columns import RESULTS as COLUMNS
    from runs.models import Result

    return [
        asdict(one) for one in measure_export("results", Result.objects.order_by("pk"), COLUMNS)
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
