"""Labelled examples: list, page, and copying into judge templates."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.admin_site.lists import ChoiceFilter, PageChangeList, RelatedFilter
from evalhub.admin_site.pages import ReadOnlyAdmin, current_user
from evalhub.display.formatting import DASH
from evalhub.display.html import link, text_block
from evalhub.refusals import Refused
from issues.admin.filters import TemplateFilter
from issues.content.test_texts import first_words
from issues.models import JudgeTemplate, TemplateState
from runs.admin.result.filters import TagFilter
from runs.figures.verdict_labels import evaluation_label
from runs.models import Example
from runs.scoring.examples import copy_into, taught_by_human_evaluation
from runs.scoring.human_evaluation import active_among
from runs.scoring.shown_verdicts import record

READ = (
    *("marked_by", "evaluation__annotator", "evaluation__criterion"),
    *("evaluation__result__answer", "evaluation__result__revision__template"),
    *("evaluation__result__run", "evaluation__result__test"),
)
MAX_COPIED = 200


class ExampleChangeList(PageChangeList):
    """A page of examples, with the active ones known."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        record(request.user, {row.evaluation.result_id for row in self.result_list})
        left = active_among([row.evaluation for row in self.result_list])
        for row in self.result_list:
            row.is_active = row.pk in left


class ExampleTagFilter(TagFilter):
    """By a tag that the issue had at launch."""

    tag_set = "evaluation__result__tag_set"


class OptionFilter(DropdownFilter):
    """By the annotator's option."""

    title = "verdict"
    parameter_name = "option"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        options = Example.objects.order_by().values_list("evaluation__option", flat=True)
        return [(option, option) for option in sorted(set(options.distinct()) - {""})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Example]) -> QuerySet[Example]:
        return queryset.filter(evaluation__option=self.value()) if self.value() else queryset


IS_WHOLE = Q(evaluation__criterion__key="")


class AboutFilter(ChoiceFilter):
    """Evaluations of the whole answer, or of one criterion."""

    title, parameter_name = "scope", "about"
    choices_of = {"whole": ("Whole answer", IS_WHOLE), "criterion": ("One criterion", ~IS_WHOLE)}


class TargetTemplateForm(forms.Form):
    """The draft to copy into."""

    template = forms.ModelChoiceField(
        JudgeTemplate.objects.filter(state=TemplateState.DRAFT),
        label="Template draft",
        empty_label="Choose a draft",
        widget=UnfoldAdminSelectWidget,
        help_text="Published templates do not change: to add examples, start a new version.",
    )


def _text_of(name: str) -> Any:
    """Return the display of one of the texts that an example shows to judges."""

    @display(description=name)
    def text(self: ReadOnlyAdmin, row: Example) -> str:
        return text_block(taught_by_human_evaluation(row.evaluation).texts[name])

    return text


@admin.register(Example)
class ExampleAdmin(ReadOnlyAdmin):
    """Labelled examples of readable tests."""

    rows_name = "Labelled examples"
    when_empty = "Mark a human evaluation as an example on its result page."
    list_display = (
        *("asked", "answered", "verdict", "about", "annotator", "short_note", "state"),
        "in_result",
    )
    list_filter = (
        ("evaluation__result__revision__template", TemplateFilter),
        ("evaluation__result__run__suite", RelatedFilter),
        ExampleTagFilter,
        OptionFilter,
        AboutFilter,
    )
    search_fields = ("note", "evaluation__justification", "evaluation__annotator__username")
    search_help_text = "Search notes, reasons and annotators."
    actions = ("copy_selected",)
    fieldsets = (
        ("Human evaluation", {"fields": ("verdict", "reason", "annotator", "about", "state")}),
        ("Judged texts", {"fields": ("input", "output", "reference", "guidelines")}),
        ("Example", {"fields": ("note", "marked_by", "created_at", "in_result")}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for _, options in self.fieldsets for name in options["fields"]]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return ExampleChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Example]:
        readable: QuerySet[Example] = Example.objects.readable_by(request.user)
        return readable.select_related(*READ).order_by("-created_at", "-pk")

    # List and page -------------------------------------------------------------------------------

    @display(description="input")
    def asked(self, row: Example) -> str:
        return first_words(row.evaluation.result.revision.content["messages"])

    @display(description="answer")
    def answered(self, row: Example) -> str:
        return Truncator(" ".join(row.evaluation.result.answer.text.split())).chars(70)

    @display(description="verdict", ordering="evaluation__value")
    def verdict(self, row: Example) -> str:
        given = row.evaluation
        return evaluation_label(given, given.result.revision.passes(given.value))

    @display(description="scope")
    def about(self, row: Example) -> str:
        return str(row.evaluation.criterion) if row.evaluation.criterion.key else "whole answer"

    @display(description="annotator", ordering="evaluation__annotator__username")
    def annotator(self, row: Example) -> str:
        return str(row.evaluation.annotator)

    @display(description="note")
    def short_note(self, row: Example) -> str:
        return Truncator(row.note).chars(60) or DASH

    @display(description="state", label={"active": "success", "withdrawn or replaced": "warning"})
    def state(self, row: Any) -> str:
        """`ExampleChangeList` knows it for the rows of a page."""
        known = getattr(row, "is_active", None)
        is_active = bool(active_among([row.evaluation])) if known is None else known
        return "active" if is_active else "withdrawn or replaced"

    @display(description="result")
    def in_result(self, row: Example) -> SafeString:
        result = row.evaluation.result_id
        url = reverse("admin:runs_result_change", args=[result])
        return link(f"{url}#people", f"result {result}")

    @display(description="reason")
    def reason(self, row: Example) -> str:
        return row.evaluation.justification or DASH

    input, output = _text_of("input"), _text_of("output")
    reference, guidelines = _text_of("reference"), _text_of("guidelines")

    # Copying -------------------------------------------------------------------------------------

    def has_copy_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("issues.change_judgetemplate"))

    @admin.action(permissions=["copy"], description="Copy into a draft …")
    def copy_selected(self, request: HttpRequest, queryset: QuerySet[Example]) -> HttpResponse:
        """Ask for a draft, or copy into it and report the outcome."""
        rows = list(queryset[: MAX_COPIED + 1])
        form = TargetTemplateForm(request.POST if "apply" in request.POST else None)
        if form.is_bound and len(rows) > MAX_COPIED:
            form.add_error(None, f"Copy at most {MAX_COPIED} at once.")
        if form.is_valid():
            template = form.cleaned_data["template"]
            try:
                copied = copy_into(template, rows, by=current_user(request))
            except Refused as error:
                form.add_error(None, error.problems)
            else:
                examples = f"{copied.new} example{'s' * (copied.new != 1)}"
                known = f" It already had {copied.known}." if copied.known else ""
                message = f"Copied {examples} into {template}.{known}"
                self.say_done(request, message)
                return HttpResponseRedirect(template.get_absolute_url())
        return self._form_page(request, form, rows)

    def _form_page(
        self, request: HttpRequest, form: TargetTemplateForm, rows: list[Example]
    ) -> HttpResponse:
        has_drafts = JudgeTemplate.objects.filter(state=TemplateState.DRAFT).exists()
        sentences = [
            "Copies the texts and verdicts as they are now. Verdicts must be on the template's "
            "scale; if its labels differ, they are matched by value.",
        ]
        if not has_drafts:
            sentences.append("No drafts yet: start a new version of a template first.")
        chosen = [(ACTION_CHECKBOX_NAME, pk) for pk in request.POST.getlist(ACTION_CHECKBOX_NAME)]
        return self.page(
            request,
            "evalhub/confirm.html",
            title="Copy examples into a draft",
            sentences=sentences,
            rows=[f"{row.evaluation} on result {row.evaluation.result_id}" for row in rows],
            form=form,
            hidden=[("action", "copy_selected"), ("apply", "1"), *chosen],
            button="Copy examples",
            back_url=self.url_of("changelist"),
        )
