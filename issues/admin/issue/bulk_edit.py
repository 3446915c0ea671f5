"""Edit several issues of the list at once: choose, preview, confirm."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.access.models import User
from evalhub.admin_site.pages import current_user
from issues.admin.state_pages import StateAdmin
from issues.bulk_edit import BulkResult, Change, edit_all, preview_changes
from issues.models import Issue, Severity, Tag

LEAVE = ("", "unchanged")


class TagsField(forms.ModelMultipleChoiceField):
    def __init__(self, **kwargs: Any) -> None:
        widget = forms.SelectMultiple(attrs={"class": "eh-input", "size": 6})
        super().__init__(Tag.objects.all(), required=False, widget=widget, **kwargs)


class SeveralForm(forms.Form):
    """Form of a bulk edit; empty fields stay unchanged."""

    assignee = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    severity = forms.ChoiceField(
        choices=[LEAVE, *Severity.choices], required=False, widget=UnfoldAdminSelectWidget
    )
    add = TagsField(label="Add tags", help_text="Ctrl-click to choose several.")
    remove = TagsField(label="Remove tags")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(is_active=True).order_by("username")
        named = [(str(user.pk), str(user)) for user in people]
        self.fields["assignee"].choices = [  # type: ignore[attr-defined]
            LEAVE,
            ("me", "me"),
            ("nobody", "nobody"),
            *named,
        ]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if not any(data.values()):
            raise forms.ValidationError("Choose at least one change.")
        if both := set(data.get("add", ())) & set(data.get("remove", ())):
            names = ", ".join(sorted(map(str, both)))
            raise forms.ValidationError(f"Cannot add and remove the same tags: {names}.")
        return data

    def change(self, me: User) -> Change:
        data = self.cleaned_data
        who = data["assignee"]
        named = {"": None, "me": me, "nobody": None}
        assignee = named[who] if who in named else User.objects.get(pk=who)
        add, remove = tuple(data["add"]), tuple(data["remove"])
        return Change(bool(who), assignee, data["severity"], add, remove)


class Bulk(StateAdmin):
    """Bulk edit views of the issue admin."""

    @admin.action(permissions=["change"], description="Change …")
    def change_selected(
        self, request: HttpRequest, queryset: QuerySet[Issue]
    ) -> HttpResponse | None:
        step = request.POST.get("step", "")
        form = SeveralForm(request.POST if step else None)
        rows = queryset.order_by("pk").prefetch_related("tags")
        if not step or not form.is_valid():
            return self._change_form(request, rows, form)
        change = form.change(current_user(request))
        if step != "sure":
            return self._confirmation(request, rows, change)
        self._report(request, edit_all([row.pk for row in rows], change, by=current_user(request)))
        return None

    def _change_form(
        self, request: HttpRequest, rows: QuerySet[Issue], form: SeveralForm
    ) -> HttpResponse:
        return self._question(
            request,
            rows,
            [("step", "what")],
            title=f"Edit {len(rows)} issues",
            form=form,
            button="Preview changes",
        )

    def _confirmation(
        self, request: HttpRequest, rows: QuerySet[Issue], change: Change
    ) -> HttpResponse:
        seen = preview_changes(rows, change)
        told = [f"Each will be {'; '.join(change.said())}."]
        told.append(f"{seen.changed} of {len(rows)} issues change; {seen.same} need no change.")
        if seen.refused:
            told.append(f"{len(seen.refused)} are skipped: they were merged into others.")
        given = [
            (name, value)
            for name in ("assignee", "severity", "add", "remove")
            for value in request.POST.getlist(name)
        ]
        return self._question(
            request,
            rows,
            [("step", "sure"), *given],
            title=f"Change {seen.changed} of {len(rows)} issues?",
            sentences=told,
            rows=[str(row) for row in rows[:50]],
            button=f"Change {seen.changed}",
        )

    def _question(
        self,
        request: HttpRequest,
        selected: QuerySet[Issue],
        hidden: list[tuple[str, str]],
        *,
        title: str,
        **shown: Any,
    ) -> HttpResponse:
        chosen = [(ACTION_CHECKBOX_NAME, str(row.pk)) for row in selected]
        return self.page(
            request,
            "evalhub/confirm.html",
            title=title,
            hidden=[("action", "change_selected"), *hidden, *chosen],
            back_url=request.get_full_path(),
            **shown,
        )

    def _report(self, request: HttpRequest, edited: BulkResult) -> None:
        told = f"{edited.changed} issues changed; {edited.same} needed no change."
        self.message_user(request, told, messages.SUCCESS)
        self.report_refused(request, edited.refused)
