"""Bulk edits of the tests in a list."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from evalhub.admin_site.pages import current_user
from evalhub.formatting import counted
from issues.admin.state_pages import StateAdmin
from issues.admin.test.short_text import first_words
from issues.models import Issue, Test
from issues.regrouping import move_tests
from issues.states import Refused
from issues.triage.actions import taking_issue

LISTED = 50


class MoveForm(forms.Form):
    issue = forms.ModelChoiceField(Issue.objects.active(), label="Move to")

    def __init__(self, *args: Any, site: admin.AdminSite, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["issue"]
        field.widget = AutocompleteSelect(Test._meta.get_field("issue"), site)
        field.widget.choices = field.choices


class BulkTests(StateAdmin):
    """Bulk actions of the test admin."""

    @admin.action(permissions=["change"], description="Move to an issue …")
    def move_selected(self, request: HttpRequest, queryset: QuerySet[Test]) -> HttpResponse | None:
        form = MoveForm(request.POST if "issue" in request.POST else None, site=self.admin_site)
        tests = queryset.select_related("issue").order_by("pk")
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
            rows=[f"{first_words(test.messages)} (of “{test.issue}”)" for test in tests[:LISTED]],
            form=form,
            button="Move",
        )

    def _move(self, request: HttpRequest, tests: QuerySet[Test], issue: Issue) -> None:
        try:
            issue = taking_issue(issue)
        except Refused as error:
            return self.say(request, *error.problems)
        moved = move_tests(tests, issue, by=current_user(request))
        if moved.done:
            text = f"{counted(moved.done, 'test')} moved to “{issue}”."
            self.say_done(request, text)
        return self.show_refused(request, moved.refused)
