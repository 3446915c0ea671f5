"""Addresses of a run's results, in the order and with the columns that its reader chose."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reports.documents.document import Link
from reports.documents.links import row_url, run_url
from runs.models import Run
from runs.result_list.filters import Filters


@dataclass(frozen=True)
class ResultLinks:
    """Links from the tables of a run to its results."""

    run: Run
    filters: Filters

    def results(self, **changes: Any) -> str:
        """Return the address of all results that fit these filters."""
        return f"{run_url(self.run)}?{self._view.query(**changes)}#results"

    def line(self, text: str, **changes: Any) -> Link:
        """Return a link to these results, which a page unfolds below the row."""
        query = self._view.query(**changes)
        rows = f"{row_url('reports:run_rows', self.run.pk)}?{query}"
        return Link(text, f"{run_url(self.run)}?{query}#results", "", rows)

    @cached_property
    def _view(self) -> Filters:
        return Filters(sort=self.filters.sort, by_judge=self.filters.by_judge)
