from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import LoadedChangeList
from evalhub.admin_site.later_tabs import LaterTabs
from evalhub.admin_site.lists import PageChangeList, count_by
from evalhub.admin_site.pages import current_user, is_about_a_row, row_number
from evalhub.display.formatting import counted
from evalhub.display.html import tags
from issues.admin.badges import COLOURS
from issues.admin.drafting.button import drafts_button, generate_button
from issues.admin.filters import (
    ASSIGNED_TO_ME,
    ISSUE_PEOPLE_FILTERS,
    ISSUE_TAG_FILTERS,
    MY_DRAFTS,
)
from issues.admin.inlines import CommentInline
from issues.admin.issue.board import Boarding
from issues.admin.issue.bulk_edit import Bulk
from issues.admin.issue.inlines import FeedbackInline, SourceInline, TestInline
from issues.admin.issue.linking import Linking
from issues.admin.issue.merge import Merging
from issues.admin.issue.moves_with_tests import MovesWithTests
from issues.admin.issue.sealed import RECORD, SealedIssues, sealed_facts
from issues.admin.state_pages import StateAdmin
from issues.admin.text_areas import TextAreas, text_area
from issues.assignees import assignable, refusal
from issues.lifecycle import states
from issues.lifecycle.readiness import counts_of, problems_of_issue
from issues.lifecycle.states import Move
from issues.models import Feedback, Issue, ResolutionLabel, Test, TestState


class ResolutionForm(forms.Form):
    """Form of an issue's resolution."""

    labels = forms.ModelMultipleChoiceField(
        ResolutionLabel.objects.all(),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Edit the choices under “Resolution labels”.",
    )
    note = forms.CharField(
        required=False,
        widget=text_area(4),
        help_text="What was done, and in which release.",
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if not data.get("labels") and not (data.get("note") or "").strip():
            raise forms.ValidationError("Choose a label or write a note.")
        return data


class AssigneeField(forms.ModelChoiceField):
    """A user; the error of a refused one says their name."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except forms.ValidationError as error:
            raise forms.ValidationError(refusal(row_number(value))) from error


class IssueForm(forms.ModelForm):
    """Offers as assignees those who may work on issues, and the one of this issue."""

    class Meta:
        model = Issue
        fields = ("assignee",)
        field_classes = {"assignee": AssigneeField}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assignee = self.fields.get("assignee")
        if isinstance(assignee, AssigneeField):
            assignee.queryset = assignable(Issue(assignee_id=self.instance.assignee_id))


class IssueChangeList(LoadedChangeList):
    """The list of issues, with the tags of the rows shown."""

    def load(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        tagged = Issue.tags.through.objects.filter(issue__in=[row.pk for row in rows])
        names: dict[int, list[str]] = defaultdict(list)
        for issue, name in tagged.order_by("tag__kind", "tag__name").values_list(
            "issue", "tag__name"
        ):
            names[issue].append(name)
        for row in rows:
            row.names_of_tags = names[row.pk]
        super().load(request, rows)


@admin.register(Issue)
class IssueAdmin(
    LaterTabs, TextAreas, Merging, Linking, MovesWithTests, Boarding, Bulk, SealedIssues
):
    """Issues, on `StateAdmin`, the base of the last six: states, moves and actions of the list.

    `LaterTabs` reads the rows of a tab when it is opened, `TextAreas` sets the heights of fields,
    `Merging` merges issues, `Linking` regroups tests and feedback, `MovesWithTests` moves an issue
    along with its tests, `Boarding` adds the board, `Bulk` edits several issues at once, and
    `SealedIssues` hides texts from those who may not read them.
    """

    form = IssueForm
    downloaded_as = "issues.api.views.IssueViewSet"
    list_before_template = "issues/issue_list_before.html"
    when_empty = "An issue describes a fault; its tests reproduce it."
    # `get_queryset` counts tests and feedback, so that they can be sorted by; tags are read for
    # the rows of a page only, by `IssueChangeList`.
    list_display = (
        "title",
        "state_label",
        "severity_label",
        "tag_names",
        "test_counts",
        "feedback_count",
        "assignee",
        "changed",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        *ISSUE_TAG_FILTERS,
        ("severity", ChoicesDropdownFilter),
        *ISSUE_PEOPLE_FILTERS,
    )
    quick_filters = (MY_DRAFTS, ASSIGNED_TO_ME, ("My issues", {"author": "me"}))
    search_fields = ("title", "open_description", "generic_statement", "tags__name", "=id")
    search_help_text = "Title, description, tag or number."
    list_select_related = ("assignee",)
    autocomplete_fields = ("tags",)
    readonly_fields = ("author", "created_at", "updated_at", "merged_into", "source_id")
    fieldsets = (
        (None, {"fields": ("title", "description", ("severity", "assignee"), "tags")}),
        ("Public summary", {"classes": ("tab",), "fields": ("generic_statement",)}),
        ("Resolution", {"classes": ("tab",), "fields": ("resolution_labels", "resolution_note")}),
        RECORD,
    )
    change_form_after_template = "issues/similar.html"
    text_rows = {"description": 6, "generic_statement": 3, "resolution_note": 3}
    inlines = (TestInline, FeedbackInline, SourceInline, CommentInline)
    actions = (*StateAdmin.actions, "change_selected", "merge_selected")
    approve_right = states.APPROVE_ISSUE
    deprecation = "Tests of these issues will no longer run. Existing results are kept."

    class Media:
        css = {"all": ("evalhub/triage.css",)}
        js = ("evalhub/similar.js",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return IssueChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Issue]:
        """Annotate `tests_total`, `tests_approved` and `feedback_total` of a list."""
        issues: QuerySet[Issue] = super().get_queryset(request)
        if is_about_a_row(request):
            return issues
        tests = Test.objects.exclude(state=TestState.DEPRECATED)
        return issues.annotate(
            tests_total=count_by("issue", tests),
            tests_approved=count_by("issue", tests.filter(state=TestState.APPROVED)),
            feedback_total=count_by("issue", Feedback.objects.all()),
        )

    def get_object(self, *args: Any, **kwargs: Any) -> Any:
        """Return an issue with its `counts`."""
        issue = super().get_object(*args, **kwargs)
        if issue is not None and not hasattr(issue, "counts"):
            issue.counts = counts_of(issue)
        return issue

    def found_as(self, issue: Issue) -> tuple[str, str]:
        where = f"issue {issue.pk}, {issue.get_state_display()}, {issue.get_severity_display()}"
        return issue.title, where.lower()

    @display(description="severity", label=COLOURS)
    def severity_label(self, issue: Issue) -> tuple[str, str]:
        return issue.severity, issue.get_severity_display()

    @display(description="tags")
    def tag_names(self, issue: Any) -> str:
        return tags(issue.names_of_tags)

    @display(description="tests", ordering="tests_approved")
    def test_counts(self, issue: Any) -> str:
        counts = (issue.tests_approved, issue.tests_total)
        return format_html('<span title="approved, of all">{} of {}</span>', *counts)

    @display(description="feedback", ordering="feedback_total")
    def feedback_count(self, issue: Any) -> int:
        return int(issue.feedback_total)

    def facts(self, row: Any) -> list[str]:
        approved = row.counts.tests_in(TestState.APPROVED)
        counts = f"{approved} of {counted(row.counts.open_tests, 'test')} approved"
        return [counts, *sealed_facts(row), *self.merge_facts(row)]

    def problems_of(self, row: Any) -> list[str]:
        return problems_of_issue(row, row.counts)

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        buttons = [
            *self.linking_buttons(request, row),
            *self.merge_buttons(request, row),
            *self.test_buttons(request, row),
        ]
        if not request.user.has_perm("issues.add_test") or row.merged_into is not None:
            return buttons
        url = f"{reverse('admin:issues_test_add')}?issue={row.pk}"
        return [
            Button("Add test", url, is_link=True),
            *generate_button(request, issue=row),
            *drafts_button(request, row),
            *buttons,
        ]

    def confirmation_form(self, request: HttpRequest, row: Any, move: Move) -> forms.Form:
        if move.name == "resolve":
            return ResolutionForm(request.POST if "note" in request.POST else None)
        return super().confirmation_form(request, row, move)

    def consequences(self, row: Any, move: Move) -> list[str]:
        if move.name == "deprecate":
            tests = counted(counts_of(row).open_tests, "test")
            return [f"Its {tests} will no longer run. Existing results are kept."]
        if move.name == "resolve":
            return ["Its tests keep running, so that a relapse shows up."]
        return super().consequences(row, move)

    def carry_out(self, request: HttpRequest, row: Any, move: Move, data: dict[str, Any]) -> None:
        if move.name == "resolve":
            states.resolve(row, by=current_user(request), **data)
        else:
            super().carry_out(request, row, move, data)
