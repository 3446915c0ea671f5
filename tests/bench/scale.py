"""Report pages, lists, exports and tallies on very many results. Prints JSON."""

import json
import sys
from dataclasses import asdict
from importlib import import_module
from typing import Any

from tests.bench.exports import measure as measure_export
from tests.bench.reports import addresses, measure
from tests.bench.tally_proof import prove
from tests.bench.workspaces import Workspace

RUNS, PER_RUN, RESULTS, ROUNDS = 200, 5_000, 1_000_000, 7


def workspace_of(results: int) -> Workspace:
    """More results are more runs of as many tests, as a site gets them over the years."""
    runs = min(RUNS, max(4, results // PER_RUN))
    copies = max(0, results // (RUNS * PER_RUN) - 1)
    return Workspace("PostgreSQL", runs, min(PER_RUN, results // runs), copies)


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
