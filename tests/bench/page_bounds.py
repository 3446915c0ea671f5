"""What `dev.py bench reports` holds each page to: times an empty page of the same run, at p95.

A bound is half as much again as what was measured when it was set, so that a page that takes twice
as long is out of it. Both pages are measured in turns, and a slow machine is slow for both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.reports import OK, Measured

AT_MOST: Mapping[str, Mapping[str, float]] = {
    "SQLite": {
        "home": 15,
        "runs": 16,
        "run": 10,
        "releases": 7,
        "compare two runs": 12,
        "compare many runs": 13,
        "trend": 14,
        "activity": 5,
        "leaderboard": 13,
        "capabilities": 15,
        "underperforming": 5,
        "heatmap issues": 9,
        "heatmap tags": 9,
        "issue_timeline": 18,
        "judge_reliability humans": 4.5,
        "judge_reliability trust": 5.5,
        "judge_reliability judges": 7,
        "overrides": 7.5,
        "annotators": 3,
        "drift": 9.5,
    },
    "PostgreSQL": {
        "home": 28,
        "runs": 24,
        "run": 18,
        "releases": 16,
        "compare two runs": 19,
        "compare many runs": 24,
        "trend": 37,
        "activity": 7,
        "leaderboard": 26,
        "capabilities": 19,
        "underperforming": 10,
        "heatmap issues": 21,
        "heatmap tags": 21,
        "issue_timeline": 20,
        "judge_reliability humans": 8,
        "judge_reliability trust": 6,
        "judge_reliability judges": 8.5,
        "overrides": 14,
        "annotators": 5,
        "drift": 20,
    },
}


@dataclass(frozen=True)
class Held:
    """A page with its bounds: no more queries than on a small ledger, and a time.

    It makes fewer where a part of it has nothing to show.

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
        is_constant = self.few_queries is not None and self.page.queries <= self.few_queries
        return self.page.status == OK and is_constant and is_in_time

    def cells(self) -> list[str]:
        page = self.page
        if page.status != OK:
            return [page.page, *[""] * 7, f"NO: status {page.status}"]
        return [
            page.page,
            f"{page.queries}"
            if page.queries == self.few_queries
            else f"{self.few_queries} → {page.queries}",
            f"{page.empty_ms:.0f}",
            f"{page.bare_ms:.0f}",
            f"{page.page_ms:.0f}",
            f"{page.p95_ms:.0f}",
            f"{page.ratio:.1f}",
            "none" if self.at_most is None else f"{self.at_most:.1f}",
            "yes" if self.holds else "NO",
        ]
