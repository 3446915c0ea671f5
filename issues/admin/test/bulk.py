"""Bulk edits of the tests in a list."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from evalhub.admin_site.pages import current_user
from evalhub.display.formatting import counted
from evalhub.refusals import Refused
from issues.admin.issue.bulk_edit import tags_field
from issues.admin.state_pages import StateAdmin
from issues.content.test_texts import named_tests
from issues.lifecycle.regrouping import move_tests, tag_tests
from issues.models import Issue, Test
from issues.triage.actions import taking_issue


class MoveForm(forms.Form):
    issue = forms.ModelChoiceField(Issue.objects.active(), label="Move to")

    def __init__(self, *args: Any, site: admin.AdminSite, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["issue"]
        field.widget = AutocompleteSelect(Test._meta.get_field("issue"), site)
        field.widget.choices = field.choices


class TagForm(forms.Form):
    add = tags_field("Add tags", "Ctrl-click to choose several.")
    remove = tags_field("Remove tags")

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if not any(data.values()):
            raise forms.ValidationError("Choose at least one tag.")
        return data


class BulkTests(StateAdmin):
    """Bulk actions of the test admin."""

    @admin.action(permissions=["change"], description="Move to an issue …")
    def move_selected(self, request: HttpRequest, queryset: QuerySet[Test]) -> HttpResponse | None:
        form = MoveForm(request.POST if "issue" in request.POST else None, site=self.admin_site)
        tests = list(queryset.select_related("issue").order_by("pk"))
        if form.is_valid():
            self._move(request, tests, form.cleaned_data["issue"])
            return None
        return self.action_page(
            request,
            "move_selected",
            tests,
            title=f"Move {counted(len(tests), 'test')}",
            sentences=[
                "Results of earlier runs stay with the original issue. Sealed tests do not move."
            ],
            rows=named_tests(tests),
            form=form,
            button="Move",
        )

    @admin.action(permissions=["change"], description="Tag …")
    def tag_selected(self, request: HttpRequest, queryset: QuerySet[Test]) -> HttpResponse | None:
        form = TagForm(request.POST if "step" in request.POST else None)
        tests = list(queryset.select_related("issue").order_by("pk"))
        if form.is_valid():
            add, remove = form.cleaned_data["add"], form.cleaned_data["remove"]
            changed = tag_tests(tests, add=add, remove=remove, by=current_user(request))
            self.say_done(request, f"{counted(changed, 'test')} changed.")
            return None
        return self.action_page(
            request,
            "tag_selected",
            tests,
            title=f"Tag {counted(len(tests), 'test')}",
            sentences=["Only the tests' own tags change, not those of their issues."],
            rows=named_tests(tests),
            hidden=[("step", "sure")],
            form=form,
            button="Change tags",
        )

    def _move(self, request: HttpRequest, tests: Sequence[Test], issue: Issue) -> None:
        try:
            issue = taking_issue(issue)
        except Refused as error:
            return self.say(request, *error.problems)
        moved = move_tests(tests, issue, by=current_user(request))
        if moved.done:
            text = f"{counted(moved.done, 'test')} moved to “{issue}”."
            self.say_done(request, text)
        return self.show_refused(request, moved.refused)
