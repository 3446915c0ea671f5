"""Viewsets of rows that show verdicts on results, in lists and in exports."""

from collections.abc import Mapping, Sequence
from typing import Any

from evalhub.api.exports import OWN, ExportedRows
from evalhub.api.views import ReadOnly
from runs.sights import record


class VerdictsShown(ExportedRows, ReadOnly):
    """Rows that show verdicts on results, which is recorded of who may give some."""

    result_column = "result_id"

    def note_exported(self, portion: Sequence[Any], place: Mapping[str, int]) -> None:
        """Record whole runs where all of their rows are exported, else each result."""
        column = "id" if self.result_column == "pk" else "result"
        if set(self.request.query_params) <= {"run", *OWN}:
            record(self.request.user, runs={row[place["run"]] for row in portion})
        else:
            record(self.request.user, {row[place[column]] for row in portion})

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset)
        record(self.request.user, {getattr(row, self.result_column) for row in rows or ()})
        return rows

    def get_object(self) -> Any:
        row = super().get_object()
        record(self.request.user, {getattr(row, self.result_column)})
        return row
