"""Viewsets of rows that show verdicts on results, in lists and in exports."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet

from evalhub.api.exports import OWN, ExportedRows
from evalhub.api.views import ReadableRows, ReadOnly
from runs.scoring.shown_verdicts import hidden_from, record


class VerdictsShown(ReadOnly):
    """Rows that show verdicts on results, which is recorded of who may give some.

    `results` are the lookups from a row to the ids of its results.
    """

    results: tuple[str, ...] = ("result_id",)

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset)
        self._record(rows or ())
        return rows

    def get_object(self) -> Any:
        row = super().get_object()
        self._record([row])
        return row

    def _record(self, rows: Iterable[Any]) -> None:
        paths = [attrgetter(lookup.replace("__", ".")) for lookup in self.results]
        record(self.request.user, {result_of(row) for row in rows for result_of in paths})


class OpenVerdicts(VerdictsShown, ReadableRows):
    """Verdicts on readable tests, without those that are hidden from the user for now."""

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset()
        if hidden := hidden_from(self.request.user):
            for lookup in self.results:
                rows = rows.exclude(**{f"{lookup}__in": hidden})
        return rows


class ExportedVerdicts(ExportedRows, VerdictsShown):
    """Rows that show verdicts on results, with their export."""

    def note_exported(self, portion: Sequence[Any], place: Mapping[str, int]) -> None:
        """Record whole runs where all of their rows are exported, else each result."""
        column = "id" if self.results == ("pk",) else "result"
        if set(self.request.query_params) <= {"run", *OWN}:
            record(self.request.user, runs={row[place["run"]] for row in portion})
        else:
            record(self.request.user, {row[place[column]] for row in portion})
