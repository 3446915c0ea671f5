"""Views of a test's rubric: live preview, pasted lines."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse

from evalhub.admin_site.history import readable
from evalhub.admin_site.pages import current_user, require
from evalhub.history import save_signed
from issues.admin.rubric.criterion_form import polarity_of
from issues.admin.rubric.preview import PREFIX, context_of, draft_of
from issues.admin.state_pages import StateAdmin
from issues.lifecycle import states
from issues.models import Criterion, Test
from issues.rubrics.pasted_criteria import criteria_in

MAX_CHARACTERS = 100_000


class RubricPages(StateAdmin):
    """Rubric views of the test admin."""

    object_history_template = "issues/test_history.html"
    post_views = {"rubric": "rubric/", "lines": "lines/"}

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        readable = self.may_read_history(request, object_id)
        test = self.get_object(request, object_id) if readable else None
        extra = {"rubric": entries_of(test)} if test is not None else {}
        return super().history_view(request, object_id, {**extra, **(extra_context or {})})

    def rubric_view(self, request: HttpRequest) -> HttpResponse:
        """Return a preview of the unsaved rubric, as a part of a page."""
        self._check_writer(request)
        asked, approach = (request.POST.get(f"preview-{n}", "") for n in ("asked", "approach"))
        draft = draft_of(request.POST)._replace(reader=current_user(request))
        context = context_of(draft, asked=asked, approach=approach)
        return TemplateResponse(request, "issues/rubric_preview.html", context)

    def lines_view(self, request: HttpRequest) -> HttpResponse:
        """Return the criteria in pasted lines, for the editor to add."""
        self._check_writer(request)
        lines = criteria_in(request.POST.get("lines", "")[:MAX_CHARACTERS])
        points = [{"text": line.text, "polarity": polarity_of(line)} for line in lines]
        return JsonResponse({"points": points})

    def _check_writer(self, request: HttpRequest) -> None:
        writes = self.has_change_permission(request) or self.has_add_permission(request)
        require(writes)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Send an approved test back to review if its rubric changes."""
        super().save_related(request, form, formsets, change)
        changed = any(formset.has_changed() for formset in formsets if formset.prefix == PREFIX)
        if change and changed and states.review_again(form.instance, request.user):
            save_signed(form.instance, current_user(request), "Rubric changed")
            self.request_review(request)

    def request_review(self, request: HttpRequest) -> None:
        said = "This test was approved before your change. It is back in review."
        self.message_user(request, said, messages.WARNING)


MAX_CHANGES = 200
UNSHOWN = ("id", "test", "key", "order")


class Change(NamedTuple):
    """A field before and after; "" for no value."""

    field: str
    old: str
    new: str


class Entry(NamedTuple):
    """A recorded change of a criterion: its version, the action, and the changed fields."""

    record: Any
    action: str
    changes: list[Change]


def entries_of(test: Test) -> list[Entry]:
    """Return the last changes of the test's rubric, newest first, without mere reordering."""
    records = Criterion.history.filter(test_id=test.pk).select_related("history_user")
    entries, before = [], None
    for record in records.order_by("id", "history_date", "history_id"):
        if before is not None and before.id != record.id:
            before = None
        if record.history_type == "-":
            entries.append(Entry(record, "deleted", []))
        elif before is None:
            entries.append(Entry(record, "added", []))
        elif changes := _changes(before, record):
            entries.append(Entry(record, "changed", changes))
        before = record
    return sorted(entries, key=lambda entry: entry.record.history_id, reverse=True)[:MAX_CHANGES]


def _changes(before: Any, after: Any) -> list[Change]:
    shown = [f for f in after.tracked_fields if f.name not in UNSHOWN]
    values = [(f, getattr(before, f.attname), getattr(after, f.attname)) for f in shown]
    return [
        Change(str(f.verbose_name), readable(old), readable(new))
        for f, old, new in values
        if old != new
    ]
