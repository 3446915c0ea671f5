from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from unfold.decorators import display

from evalhub.access.sealing.readers import READ_SEALED
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.later_tabs import LaterInline, LaterTabs
from evalhub.admin_site.pages import current_user, is_about_a_row, row_number
from evalhub.display.html import link, tags
from evalhub.llm.content.content_parts import all_images, images_in
from evalhub.llm.content.raw_prompt import raw_prompt_of
from issues.admin.drafting.button import generate_button
from issues.admin.drafting.edits import EditPages
from issues.admin.filters import ASSIGNED_TO_ME, TEST_FILTERS
from issues.admin.inlines import TestCommentInline
from issues.admin.rubric.inline import RubricInline
from issues.admin.rubric.preview import PREFIX as RUBRIC
from issues.admin.rubric.preview import context_of
from issues.admin.state_pages import StateAdmin
from issues.admin.test.bulk import BulkTests
from issues.admin.test.form import TestForm, conversation
from issues.admin.test.sealing import SealingPages
from issues.content.conversation import request_messages
from issues.content.revisions import content_of
from issues.content.test_content import JUDGING, MATERIAL, RECORD, REVIEWED, rows_of
from issues.content.test_texts import first_words, judged_by_text, rubric_size
from issues.judge_templates.preview import preview, sample_answer
from issues.judge_templates.prompts import PromptError
from issues.lifecycle import states
from issues.lifecycle.states import Move
from issues.models import Author, Issue, Revision, Test
from issues.rubrics.draft import draft_of_test
from issues.rubrics.scales import ScaleError
from issues.rubrics.siblings import (
    copy_judge_settings,
    judge_settings_of,
    rubric_of,
    siblings_of,
)
from issues.tags import names_on
from issues.test_filter import SEARCHED, search

WRITTEN = (*REVIEWED, "prompt", "system_prompt", "kind")
"""Fields of the form that affect results."""


class RevisionInline(LaterInline):
    """Frozen versions used by runs, newest first."""

    model = Revision
    fields = readonly_fields = ("version", "created_at", "template", "pass_threshold", "pass_rule")
    ordering = ("-number",)

    @display(description="version")
    def version(self, revision: Revision) -> str:
        url = reverse("admin:issues_revision_change", args=[revision.pk])
        return link(url, revision.number)


@admin.register(Test)
class TestAdmin(LaterTabs, BulkTests, EditPages, SealingPages):
    """Tests; reading sealed ones requires the right to."""

    __test__ = False
    form = TestForm
    downloaded_as = "issues.api.views.TestViewSet"
    when_empty = "A test is an example that reproduces an issue."
    list_display = (
        "words",
        "issue",
        "state_label",
        "tag_names",
        "judged_by",
        "weight",
        "sealed_label",
        "changed",
    )
    list_filter = TEST_FILTERS
    quick_filters = (
        ("My drafts", {"author": "me", "state": "draft"}),
        ASSIGNED_TO_ME,
        ("My tests", {"author": "me"}),
    )
    search_fields = (*SEARCHED, "=id")
    found_by = ("messages", "issue__title", "=id")
    search_help_text = "Text of the test, title of its issue, or number."
    list_select_related = ("issue", "template")
    autocomplete_fields = ("issue", "tags")
    readonly_fields = ("asked", "origin", "author", "source_id", "created_at", "updated_at")
    question = ("kind", "system_prompt", "prompt", "messages")
    inlines = (RubricInline, RevisionInline, TestCommentInline)
    actions = (*StateAdmin.actions, "move_selected", "tag_selected")
    approve_right = states.APPROVE_TEST
    deprecation = "These tests will no longer run. Existing results are kept."
    views = {"preview": "<int:object_id>/preview/"}
    post_views = {"copy": "<int:object_id>/copy/"}

    class Media:
        css = {"all": ("evalhub/text_edits.css",)}
        js = ("evalhub/messages.js", "evalhub/text_edits.js")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Test]:
        tests: QuerySet[Test] = super().get_queryset(request).readable_by(request.user)
        if is_about_a_row(request):
            return tests.select_related("issue", "template")
        return tests.annotate(points=rubric_size()).prefetch_related("tags", "issue__tags")

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        return search(queryset, search_term) if search_term else queryset, False

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        return self.get_object(request, object_id) is not None

    def found_as(self, test: Test) -> tuple[str, str]:
        return first_words(test.messages), f"test {test.pk} of “{test.issue}”"

    @display(description="test")
    def words(self, test: Test) -> str:
        return first_words(test.messages)

    @display(description="tags")
    def tag_names(self, test: Test) -> str:
        return tags(names_on(test))

    @display(description="judged by", ordering="template")
    def judged_by(self, test: Any) -> str:
        return judged_by_text(test.points, test.template)

    @display(description="sealed", label={"sealed": "info"})
    def sealed_label(self, test: Test) -> str:
        return "sealed" if test.sealed else ""

    @display(description="input")
    def asked(self, test: Test) -> str:
        shown = {"text": conversation(test), "images": all_images(test.messages)}
        return render_to_string("issues/conversation.html", shown)

    def get_fieldsets(self, request: HttpRequest, obj: Test | None = None) -> Any:
        writes = self.has_change_permission(request, obj) if obj else True
        question = self.question if writes else ("asked",)
        record = (("origin", "author"), ("created_at", "updated_at"), "source_id")
        return (
            (None, {"fields": ("issue", *question, "tags")}),
            (JUDGING, {"classes": ("tab",), "fields": rows_of(JUDGING)}),
            (MATERIAL, {"classes": ("tab",), "fields": rows_of(MATERIAL)}),
            (RECORD, {"classes": ("tab",), "fields": ("sealed", *rows_of(RECORD), *record)}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Test | None = None) -> Any:
        """Allow sealing a new test, for users who can read it then; later it is an action."""
        seals = obj is None and request.user.has_perm(READ_SEALED)
        return self.readonly_fields if seals else (*self.readonly_fields, "sealed")

    def get_inlines(self, request: HttpRequest, obj: Test | None) -> Any:
        return self.inlines if obj else self.inlines[:1]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Prefill the issue from the link, and the judging of a sibling."""
        initial = super().get_changeform_initial_data(request)
        issue = Issue.objects.filter(pk=row_number(request.GET.get("issue"))).first()
        if issue is None:
            return {name: value for name, value in initial.items() if name != "issue"}
        chosen = self._sibling(request, issue)
        taken = judge_settings_of(chosen) if chosen else {}
        return {**initial, "issue": issue.pk, **taken}

    def get_formset_kwargs(self, request: HttpRequest, obj: Test, *args: Any) -> dict[str, Any]:
        """Start a new test with a copy of its sibling's rubric."""
        kwargs: dict[str, Any] = super().get_formset_kwargs(request, obj, *args)
        is_new = obj.pk is None and request.method == "GET"
        if not is_new or kwargs["prefix"] != RUBRIC:
            return kwargs
        issue = Issue.objects.filter(pk=row_number(request.GET.get("issue"))).first()
        chosen = self._sibling(request, issue) if issue else None
        return {**kwargs, "initial": rubric_of(chosen) if chosen else []}

    def _sibling(self, request: HttpRequest, issue: Issue) -> Test | None:
        """Return the sibling named in the link, else the first open one."""
        siblings = siblings_of(issue, request.user)
        wanted = row_number(request.GET.get("sibling"))
        return next((s for s in siblings if s.pk == wanted), next(iter(siblings), None))

    def save_model(self, request: HttpRequest, obj: Test, form: ModelForm, change: bool) -> None:
        rewritten = change and bool(set(form.changed_data) & set(WRITTEN))
        if rewritten and states.review_again(obj, request.user):
            self.request_review(request)
        super().save_model(request, obj, form, change)

    def panel(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        changes = self.has_change_permission(request, row)
        return {
            **super().panel(request, row),
            "siblings": self._named_siblings(request, row) if changes else [],
            "copy_url": self.url_of("copy", row.pk),
        }

    def _named_siblings(self, request: HttpRequest, test: Test) -> list[tuple[int, str]]:
        siblings = siblings_of(test.issue, request.user, beside=test, only=("messages",))
        return [(row.pk, f"{row.pk}: {first_words(row.messages)}") for row in siblings]

    def facts(self, row: Any) -> list[str]:
        is_drafted = row.reference_by == Author.MODEL and row.reference.strip()
        return [
            *(["sealed"] if row.sealed else []),
            *(["raw prompt"] if raw_prompt_of(row.messages) is not None else []),
            *(["reference by a model"] if is_drafted else []),
        ]

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        issue = Button("Issue", row.issue.get_absolute_url(), is_link=True)
        shown = Button("Preview", self.url_of("preview", row.pk), is_link=True)
        generate = generate_button(request, test=row)
        return [issue, shown, *generate, *super().buttons(request, row)]

    def consequences(self, row: Any, move: Move) -> list[str]:
        if move.name == "deprecate":
            return ["It will no longer run. Existing results are kept."]
        return super().consequences(row, move)

    def copy_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Copy the judging of a sibling."""
        test = self.posted(request, object_id)
        readable = Test.objects.readable_by(request.user)
        sibling = get_object_or_404(readable, pk=row_number(request.POST.get("sibling")))
        with self.refusals_shown(request):
            copy_judge_settings(sibling, test, by=current_user(request))
            text = f"Judge settings copied from test {sibling.pk}. Adapt its guidelines."
            self.say_done(request, text)
        return self.back(request, test)

    def preview_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the exact request to a model, and the judge prompt for an answer; send nothing."""
        test = self.found(request, object_id)
        answer = request.POST.get("answer", sample_answer(test))
        reader = current_user(request)
        shown: dict[str, Any]
        if test.criteria.exists():
            draft = draft_of_test(test)._replace(answer=answer, reader=reader)
            asked, approach = (request.POST.get(f"preview-{n}", "") for n in ("asked", "approach"))
            shown = {"rubric": True, **context_of(draft, asked=asked, approach=approach)}
        elif test.template is None:
            shown = {"has_no_judge_prompt": True}
        else:
            shown = {"template": test.template, "prompt": "", "problems": []}
            try:
                shown["prompt"] = preview(
                    test.template, content_of(test), answer, test_id=test.pk, reader=reader
                )
            except (PromptError, ScaleError) as error:
                shown["problems"] = error.problems
        return self.page(
            request,
            "issues/preview.html",
            title=f"Preview of {test}",
            test=test,
            sent=request_messages(test.messages, test.context),
            is_raw_prompt=raw_prompt_of(test.messages) is not None,
            has_images=bool(images_in(test.messages)),
            answer=answer,
            back_url=self.url_of("change", test.pk),
            **shown,
        )
