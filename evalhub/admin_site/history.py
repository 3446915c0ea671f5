"""Readable histories of rows."""

import json
from datetime import datetime
from difflib import unified_diff
from typing import Any, NamedTuple

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import localtime
from simple_history.admin import SimpleHistoryAdmin
from simple_history.models import DeletedObject
from simple_history.template_utils import HistoricalRecordContextHelper

from evalhub.admin_site.pages import PageAdmin
from evalhub.limits import HISTORY_PAGE_SIZE


class Line(NamedTuple):
    """A line of a diff; its sign is "+", "-", a space, or "…" for omitted lines."""

    sign: str
    text: str


class Value(NamedTuple):
    """A recorded field; `lines` is empty if it did not change."""

    name: str
    text: str
    lines: list[Line]


class ReadableChanges(HistoricalRecordContextHelper):
    """Readable changes of a version; "" for an empty value."""

    def prepare_delta_change_value(self, change: Any, value: Any) -> str:
        value = super().prepare_delta_change_value(change, value)
        if self.model._meta.get_field(change.field).many_to_many:
            return ", ".join(sorted(map(str, value)))
        is_empty = isinstance(value, DeletedObject) and value.pk is None
        return "" if is_empty else readable(value)


class HistoryAdmin(SimpleHistoryAdmin, PageAdmin):
    """Admin of rows with a read-only history."""

    history_list_per_page = HISTORY_PAGE_SIZE
    object_history_template = "evalhub/history.html"

    def get_historical_record_context_helper(
        self, request: HttpRequest, historical_record: Any
    ) -> "ReadableChanges":
        return ReadableChanges(self.model, historical_record)

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        """Return whether the user may read the row's history; called before loading any of it."""
        return True

    def revert_disabled(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Disable reverts, which would bypass states and publication."""
        return True

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.may_read_history(request, object_id):
            raise Http404
        context = {"crumb": "History", **(extra_context or {})}
        response: HttpResponse = super().history_view(request, object_id, context)
        return response

    def history_form_view(
        self,
        request: HttpRequest,
        object_id: str,
        version_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method != "GET" or not self.has_view_permission(request):
            raise PermissionDenied
        if not self.may_read_history(request, object_id):
            raise Http404
        try:
            record = self.model.history.get(pk=int(version_id), id=int(object_id))
        except (ValueError, ObjectDoesNotExist) as error:
            raise Http404 from error
        values = values_of(record, record.prev_record)
        return self.page(
            request,
            "evalhub/history_version.html",
            title=f"Version of {readable(record.history_date)}",
            record=record,
            changed=[value for value in values if value.lines],
            others=[value for value in values if not value.lines],
            history_url=self.url_of("history", object_id),
        )


def values_of(record: Any, before: Any) -> list[Value]:
    """Return the fields of a recorded version. `before` is None for the first."""
    values = []
    for field in [*record.tracked_fields, *record._history_m2m_fields]:
        if getattr(field, "auto_now", False):
            continue
        text = readable(_value(record, field))
        old = readable(_value(before, field)) if before else text
        lines = _diff(old, text) if old != text else []
        values.append(Value(str(field.verbose_name), text, lines))
    return values


def _value(record: Any, field: Any) -> Any:
    if field.many_to_many:
        name = field.m2m_reverse_field_name()
        rows = getattr(record, field.name).all()
        names = (_related(row, name, getattr(row, f"{name}_id")) for row in rows)
        return ", ".join(sorted(map(str, names)))
    if field.is_relation:
        return _related(record, field.name, getattr(record, field.attname))
    return getattr(record, field.name)


def _related(row: Any, name: str, key: Any) -> Any:
    """Return the related row, or its number if it was deleted."""
    try:
        return getattr(row, name)
    except ObjectDoesNotExist:
        return f"{key} (deleted)"


def readable(value: Any) -> str:
    """Format a field's value; "" if empty."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{localtime(value):%Y-%m-%d %H:%M}"
    if isinstance(value, dict | list):
        return json.dumps(value, indent=2, ensure_ascii=False)
    return str(value)


def _diff(before: str, after: str) -> list[Line]:
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm=""))[2:]
    return [Line("…", "") if line.startswith("@@") else Line(line[0], line[1:]) for line in lines]
