from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch, reverse
from django.utils.timezone import localtime
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateFilter
from unfold.decorators import display
from unfold.utils import parse_date_str

from evalhub.access.models import Exposure, User
from evalhub.access.request_limits import expensive
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.admin_site.lists import PageChangeList
from evalhub.admin_site.pages import ReadOnlyAdmin, require, row_number
from evalhub.audit.changes import told
from evalhub.audit.models import READ_AUDIT, AuditEntry
from evalhub.audit.sql_view import recorded_models
from evalhub.display.html import link
from evalhub.files.csv_safety import csv_lines
from evalhub.values.days import start_of

CSV_HEADING = (
    *("when", "who", "act", "what", "number", "name"),
    *("changed", "recipient", "address", "reason"),
)
CHUNK = 500


class AuditChangeList(PageChangeList):
    """The page of the list, each entry with what it is about."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list: Any = told(list(self.result_list))


class WhoFilter(DropdownFilter):
    title, parameter_name = "who", "who"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        people = User.objects.order_by("username").values_list("pk", "username")
        return [("system", "the system"), *((str(pk), name) for pk, name in people)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        if chosen == "system":
            return queryset.filter(actor=None, name="")
        return queryset.filter(actor=row_number(chosen)) if chosen else queryset


class WhatFilter(DropdownFilter):
    title, parameter_name = "what", "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        listed = {model for model in apps.get_models() if admin.site.is_registered(model)}
        models = {*recorded_models(), *listed} - {AuditEntry}
        kinds = ((model._meta.label_lower, str(model._meta.verbose_name)) for model in models)
        return sorted(kinds, key=lambda kind: kind[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class DaysFilter(RangeDateFilter):
    """Whole days of the site's time zone, the last included."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        first, last = (self._day(end) for end in ("from", "to"))
        if first:
            queryset = queryset.filter(at__gte=start_of(first))
        return queryset.filter(at__lt=start_of(last + timedelta(days=1))) if last else queryset

    def _day(self, end: str) -> date | None:
        text = self.used_parameters.get(f"{self.parameter_name}_{end}")
        found: date | None = parse_date_str(text) if isinstance(text, str) else None
        return found


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin):
    """Acts of people and of the system, newest first. Nobody changes them."""

    when_empty = "Nobody has done anything yet that is kept on record."
    list_display = ("when", "who", "act_", "what", "changed", "where", "reason_")
    list_display_links = None
    list_filter = (
        WhoFilter,
        ("act", ChoicesDropdownFilter),
        WhatFilter,
        ("at", DaysFilter),
    )
    linked_lookups = ("number",)
    search_fields = ("=number", "=name")
    search_help_text = "Search by the number of a row, or by the name entered at a login."
    views = {"download": "download/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.prefetch_related("actor")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return AuditChangeList

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow the list only; an entry has no page of its own."""
        return obj is None and bool(request.user.has_perm(READ_AUDIT))

    def get_list_display(self, request: HttpRequest) -> Any:
        reads = request.user.has_perm(READ_SEALED)
        return self.list_display if reads else self.list_display[:-1]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        query = request.GET.urlencode()
        url = self.url_of("download") + (f"?{query}" if query else "")
        context = {"download_url": url, "download_title": "All entries of this list, as CSV"}
        response: HttpResponse = super().changelist_view(
            request, {**context, **(extra_context or {})}
        )
        return response

    @expensive
    def download_view(self, request: HttpRequest) -> HttpResponseBase:
        require(self.has_view_permission(request))
        listed = self.listed(request)
        if listed is None:
            return HttpResponseRedirect(self.url_of("changelist"))
        rows = _csv_rows(listed, reads_sealed=request.user.has_perm(READ_SEALED))
        return StreamingHttpResponse(
            csv_lines(CSV_HEADING, rows),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="audit.csv"'},
        )

    @display(description="when", ordering="at")
    def when(self, entry: AuditEntry) -> str:
        return f"{localtime(entry.at):%Y-%m-%d %H:%M:%S}"

    @display(description="who")
    def who(self, entry: AuditEntry) -> str:
        return str(entry.actor or entry.name or "the system")

    @display(description="act")
    def act_(self, entry: AuditEntry) -> str:
        return entry.get_act_display()

    @display(description="what")
    def what(self, entry: AuditEntry) -> str:
        url, text = address_of(entry), _what(entry)
        return link(url, text) if url else text

    @display(description="changed")
    def changed(self, entry: AuditEntry) -> str:
        return ", ".join(entry.about.changed)

    @display(description="to or from")
    def where(self, entry: AuditEntry) -> str:
        return entry.recipient or entry.address

    @display(description="reason")
    def reason_(self, entry: AuditEntry) -> str:
        return entry.reason


def _what(entry: AuditEntry) -> str:
    kind = str(entry.model._meta.verbose_name) if entry.model else entry.kind
    number = f" {entry.number}" if entry.number is not None else ""
    name = f" “{entry.about.name}”" if entry.about.name else ""
    return f"{kind}{number}{name}"


def address_of(entry: AuditEntry) -> str:
    """Return the page of the version, of the row, or of what it is about; "" if there is none."""
    model = entry.model
    if model is None or entry.number is None:
        return ""
    if model is Exposure:
        return f"{reverse('admin:evalhub_exposure_changelist')}?test={entry.number}"
    if signed := getattr(model, "signed", None):
        on: Any = model._meta.get_field(signed.on)
        model = on.related_model if on.is_relation else model
    stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    try:
        if entry.version is not None:
            return reverse(f"{stem}_simple_history", args=[entry.number, entry.version])
        return reverse(f"{stem}_change", args=[entry.number])
    except NoReverseMatch:
        return ""


def _csv_rows(listed: QuerySet[AuditEntry], *, reads_sealed: bool) -> Iterator[list[Any]]:
    rows = listed.iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        for entry in told(chunk):
            yield [
                localtime(entry.at).isoformat(),
                str(entry.actor or entry.name or ""),
                entry.get_act_display(),
                entry.kind,
                entry.number,
                entry.about.name,
                ", ".join(entry.about.changed),
                entry.recipient,
                entry.address,
                entry.reason if reads_sealed else None,
            ]
