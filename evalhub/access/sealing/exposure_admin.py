from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, StreamingHttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter
from unfold.decorators import display

from evalhub.access.models import Exposure
from evalhub.access.sealing.exposures import EXPOSURE_COLUMNS, WITHHELD
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.admin_site.pages import ReadOnlyAdmin, require
from evalhub.files.csv_safety import csv_lines


@admin.register(Exposure)
class ExposureAdmin(ReadOnlyAdmin):
    """Users and endpoints that sealed tests were shown to. Recorded automatically, never edited."""

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
    linked_lookups = ("test",)
    list_select_related = ("user", "by", "ended_by", "language_model")
    search_fields = ("=test", "endpoint", "user__username")
    search_help_text = "Search by test number, address or username."
    list_before_template = "evalhub/exposures_before.html"
    views = {"export": "export/"}

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        reads = request.user.has_perm(READ_SEALED)
        return [name for name in EXPOSURE_COLUMNS if reads or name not in WITHHELD]

    @display(description="shown to", ordering="endpoint")
    def to(self, exposure: Exposure) -> str:
        return str(exposure.user or exposure.endpoint or "all readers")

    @display(description="status", ordering="ended_at")
    def status(self, exposure: Exposure) -> str:
        if exposure.user_id is None:
            return ""
        return "has access" if exposure.ended_at is None else f"ended {exposure.ended_at:%Y-%m-%d}"

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Export the filtered list, all pages of it, as CSV."""
        require(self.has_view_permission(request))
        rows = self.listed(request)
        if rows is None:
            return HttpResponseRedirect(self.url_of("changelist"))
        columns = self.get_fields(request)
        values = ([getattr(row, name) for name in columns] for row in rows.iterator(chunk_size=500))
        texts = ([None if value is None else str(value) for value in row] for row in values)
        lines = csv_lines(columns, texts)
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="exposures.csv"'
        return response
