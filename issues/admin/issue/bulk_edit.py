"""Edit several issues of the list at once: choose, preview, confirm."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.access.models import User
from evalhub.admin_site.pages import current_user, row_number
from issues.admin.state_pages import StateAdmin
from issues.assignees import assignable, refusal
from issues.bulk_edit import Change, edit_all, preview_changes
from issues.models import Issue, Severity, Tag

LEAVE = ("", "unchanged")


def tags_field(label: str, help_text: str = "") -> forms.ModelMultipleChoiceField:
    widget = forms.SelectMultiple(attrs={"class": "eh-input", "size": 6})
    return forms.ModelMultipleChoiceField(
        Tag.objects.all(), required=False, widget=widget, label=label, help_text=help_text
    )


class AssigneeChoice(forms.ChoiceField):
    """A user by key, "me", "nobody" or "" for unchanged; a refusal says the name."""

    def validate(self, value: Any) -> None:
        if value and not self.valid_value(value):
            raise forms.ValidationError(refusal(row_number(value)))


class SeveralForm(forms.Form):
    """Form of a bulk edit; empty fields stay unchanged."""

    assignee = AssigneeChoice(required=False, widget=UnfoldAdminSelectWidget)
    severity = forms.ChoiceField(
        choices=[LEAVE, *Severity.choices], required=False, widget=UnfoldAdminSelectWidget
    )
    add = tags_field("Add tags", "Ctrl-click to choose several.")
    remove = tags_field("Remove tags")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [
            LEAVE,
            ("me", "me"),
            ("nobody", "nobody"),
            *((str(u.pk), str(u)) for u in assignable()),
        ]
        self.fields["assignee"].choices = choices  # type: ignore[attr-defined]

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
            return self.action_page(
                request,
                "change_selected",
                rows,
                hidden=[("step", "what")],
                title=f"Edit {len(rows)} issues",
                form=form,
                button="Preview changes",
            )
        user = current_user(request)
        change = form.change(user)
        if step != "sure":
            return self._confirm_change(request, rows, change)
        edited = edit_all([row.pk for row in rows], change, by=user)
        text = f"{edited.changed} issues changed; {edited.same} needed no change."
        self.say_done(request, text)
        self.show_refused(request, edited.refused)
        return None

    def _confirm_change(
        self, request: HttpRequest, rows: QuerySet[Issue], change: Change
    ) -> HttpResponse:
        preview = preview_changes(rows, change)
        sentences = [
            f"Each will be {'; '.join(change.parts())}.",
            f"{preview.changed} of {len(rows)} issues change; {preview.same} need no change.",
        ]
        if preview.refused:
            merged = len(preview.refused)
            sentences.append(f"{merged} are skipped: they were merged into others.")
        sent = [
            (name, value)
            for name in SeveralForm.base_fields
            for value in request.POST.getlist(name)
        ]
        return self.action_page(
            request,
            "change_selected",
            rows,
            hidden=[("step", "sure"), *sent],
            title=f"Change {preview.changed} of {len(rows)} issues?",
            sentences=sentences,
            rows=rows[:50],
            button=f"Change {preview.changed}",
        )
