"""Addresses of a run's results, in the order and with the columns that its reader chose."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from reports.documents.document import Link
from reports.documents.links import run_url
from runs.models import Run
from runs.result_list.filters import Filters


@dataclass(frozen=True)
class ResultLinks:
    """Links from the tables of a run to its results."""

    run: Run
    filters: Filters

    def results(self, **changes: Any) -> str:
        """Return the address of all results that fit these filters."""
        return f"{run_url(self.run)}?{self._query(**changes)}#results"

    def line(self, text: str, **changes: Any) -> Link:
        """Return a link to these results, which a page unfolds below the row."""
        rows = f"{reverse('reports:run_rows', args=[self.run.pk])}?{self._query(**changes)}"
        return Link(text, self.results(**changes), "", rows)

    def _query(self, **changes: Any) -> str:
        view = Filters(sort=self.filters.sort, by_judge=self.filters.by_judge)
        return view.query(**changes)
