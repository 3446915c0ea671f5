"""What `dev.py bench reports` holds each page to: times an empty page of the same run, at p95.

Measured on two machines, one three times as fast as the other; a bound is half as much again as the
larger of the two, so that a page that takes twice as long is out of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.reports import OK, Measured

AT_MOST: Mapping[str, Mapping[str, float]] = {"SQLite": {}, "PostgreSQL": {}}


@dataclass(frozen=True)
class Held:
    """A page with its bounds: as many queries as on a small ledger, and a time.

    Attributes:
        few_queries: On a small ledger; None if the page is not there.
        at_most: Times an empty page; None if the page has no bound yet.
    """

    page: Measured
    few_queries: int | None
    at_most: float | None

    @property
    def holds(self) -> bool:
        is_in_time = self.at_most is not None and self.page.ratio <= self.at_most
        return self.page.status == OK and self.page.queries == self.few_queries and is_in_time

    def cells(self) -> list[str]:
        page = self.page
        if page.status != OK:
            return [page.page, *[""] * 7, f"NO: status {page.status}"]
        is_constant = page.queries == self.few_queries
        return [
            page.page,
            f"{page.queries}" if is_constant else f"{self.few_queries} → {page.queries}",
            f"{page.empty_ms:.0f}",
            f"{page.bare_ms:.0f}",
            f"{page.page_ms:.0f}",
            f"{page.p95_ms:.0f}",
            f"{page.ratio:.1f}",
            "none" if self.at_most is None else f"{self.at_most:.1f}",
            "yes" if self.holds else "NO",
        ]
