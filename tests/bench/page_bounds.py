"""The bounds of the first request of a report's page."""

from dataclasses import dataclass
from math import inf

from tests.bench.reports import OK, Measured
from tests.bench.workspaces import Workspace

CPU_MS, P95_MS = 150.0, 1000.0
FEW_RESULTS = 100_000
"""Up to which the CPU of a request is bounded, with the queries of SQLite; its time always is."""

HEAD = ("page", "queries", "empty CPU", "CPU ms", "at most", "p95 ms", "at most", "holds")


def cpu_bound(workspace: Workspace) -> float:
    return CPU_MS if workspace.size <= FEW_RESULTS else inf


@dataclass(frozen=True)
class Held:
    """A page with its bounds.

    Attributes:
        few_queries: Those on a small workspace, of which it may make no more; None: any number.
        cpu_at_most: Milliseconds.
    """

    page: Measured
    few_queries: int | None = None
    cpu_at_most: float = inf

    @property
    def holds(self) -> bool:
        page = self.page
        is_constant = self.few_queries is None or page.queries <= self.few_queries
        is_fast = page.cpu_ms <= self.cpu_at_most and page.p95_ms <= P95_MS
        return page.status == OK and is_constant and is_fast

    def cells(self) -> list[str]:
        page = self.page
        if page.status != OK:
            return [page.page, *[""] * 6, f"NO: status {page.status}"]
        is_more = self.few_queries is not None and page.queries != self.few_queries
        return [
            page.page,
            f"{self.few_queries} → {page.queries}" if is_more else f"{page.queries}",
            f"{page.empty_cpu_ms:.0f}",
            f"{page.cpu_ms:.0f}",
            "" if self.cpu_at_most == inf else f"{self.cpu_at_most:.0f}",
            f"{page.p95_ms:.0f}",
            f"{P95_MS:.0f}",
            "yes" if self.holds else "NO",
        ]
