"""The list of exposures and its CSV export."""

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern, path
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter
from unfold.decorators import display

from evalhub.access.models import Exposure
from evalhub.access.sealed import READ_SEALED
from evalhub.admin_site.pages import ReadOnlyAdmin
from evalhub.csv_safety import BOM, Echo, cell

COLUMNS = (
    *("id", "test", "kind", "day", "user", "endpoint", "language_model", "purpose"),
    *("reason", "by", "created_at", "ended_at", "ended_by"),
)
WITHHELD = ("reason",)
"""Columns that may quote a test, for readers of sealed tests only."""


@admin.register(Exposure)
class ExposureAdmin(ReadOnlyAdmin):
    """Users and endpoints that sealed tests were shown to. Recorded automatically, never edited."""

    section = "Settings"
    when_empty = (
        "No sealed test was revealed to a user, opened, or sent outside the trusted network."
    )
    list_display = ("test", "kind", "to", "day", "purpose", "by", "status")
    list_filter = (
        ("kind", ChoicesDropdownFilter),
        ("day", RangeDateFilter),
        "endpoint",
        ("purpose", admin.AllValuesFieldListFilter),
    )
    list_select_related = ("user", "by", "ended_by", "language_model")
    search_fields = ("=test", "endpoint", "user__username")
    search_help_text = "Search by test number, address or username."
    list_before_template = "evalhub/exposures_before.html"

    def get_urls(self) -> list[URLPattern]:
        name = self.url_name("export").removeprefix("admin:")
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name=name), *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return shown_columns(request)

    @display(description="shown to", ordering="endpoint")
    def to(self, exposure: Exposure) -> str:
        return recipient_name(exposure)

    @display(description="status", ordering="ended_at")
    def status(self, exposure: Exposure) -> str:
        if exposure.user_id is None:
            return ""
        return "has access" if exposure.ended_at is None else f"ended {exposure.ended_at:%Y-%m-%d}"

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Export the filtered list, all pages of it, as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = self.get_changelist_instance(request).get_queryset(request)
        response = StreamingHttpResponse(
            csv_lines(rows, shown_columns(request)), content_type="text/csv; charset=utf-8"
        )
        response["Content-Disposition"] = 'attachment; filename="exposures.csv"'
        return response


def shown_columns(request: HttpRequest) -> tuple[str, ...]:
    reads = request.user.has_perm(READ_SEALED)
    return tuple(name for name in COLUMNS if reads or name not in WITHHELD)


def recipient_name(exposure: Exposure) -> str:
    """Name the user, the address, or all readers."""
    return str(exposure.user or exposure.endpoint or "all readers")


def csv_lines(rows: QuerySet[Exposure], columns: tuple[str, ...]) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield BOM + writer.writerow(columns)
    for row in rows.iterator(chunk_size=500):
        values = (getattr(row, name) for name in columns)
        yield writer.writerow([cell(None if value is None else str(value)) for value in values])
