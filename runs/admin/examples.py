"""Human verdicts marked as examples: list, page, and copying into templates."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.contrib.filters.admin import DropdownFilter, RelatedDropdownFilter
from unfold.decorators import display
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.admin_site.pages import ReadOnlyAdmin, current_user
from evalhub.formatting import DASH
from issues.admin.test.short_text import first_words
from issues.models import JudgeTemplate, Tag, TemplateState
from issues.states import Refused
from runs.figures.verdict_labels import extent_label, verdict_label
from runs.models import Example, TagSet
from runs.scoring.examples import active_among, copy_into, taught_by_human_evaluation

COPY = "issues.change_judgetemplate"
READ = (
    *("marked_by", "evaluation__annotator", "evaluation__criterion"),
    *("evaluation__result__answer", "evaluation__result__revision__template"),
    *("evaluation__result__run", "evaluation__result__test"),
)
MOST_COPIED = 200


class ExampleList(ChangeList):
    """The list, with the state of each verdict shown."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        left = active_among([row.evaluation for row in self.result_list])
        for row in self.result_list:
            row.is_standing = row.pk in left


class TagFilter(DropdownFilter):
    """Filter by a tag that the issue had at launch."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            (name, name) for name in Tag.objects.order_by("name").values_list("name", flat=True)
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Example]) -> QuerySet[Example]:
        if not self.value():
            return queryset
        sets = TagSet.objects.values_list("pk", "names")
        wanted = [pk for pk, names in sets if self.value() in names]
        return queryset.filter(evaluation__result__tag_set__in=wanted)


class OptionFilter(DropdownFilter):
    """Filter by the option of the annotator."""

    title = "verdict"
    parameter_name = "option"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        options = Example.objects.order_by().values_list("evaluation__option", flat=True)
        return [(option, option) for option in sorted(set(options.distinct()) - {""})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Example]) -> QuerySet[Example]:
        return queryset.filter(evaluation__option=self.value()) if self.value() else queryset


class AboutFilter(DropdownFilter):
    """Filter by verdicts on whole answers or on a criterion."""

    title = "about"
    parameter_name = "about"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("whole", "The answer as a whole"), ("criterion", "One criterion")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Example]) -> QuerySet[Example]:
        match self.value():
            case "whole":
                return queryset.filter(evaluation__criterion__key="")
            case "criterion":
                return queryset.exclude(evaluation__criterion__key="")
        return queryset


class TargetTemplateForm(forms.Form):
    """The draft that examples are copied into."""

    template = forms.ModelChoiceField(
        JudgeTemplate.objects.filter(state=TemplateState.DRAFT),
        label="Template draft",
        empty_label="Choose a draft",
        widget=UnfoldAdminSelectWidget,
        help_text="What is published never changes: begin a new version of it to teach it more.",
    )


@admin.register(Example)
class ExampleAdmin(ReadOnlyAdmin):
    """Return marked verdicts on tests that the user may read."""

    rows = "Labelled examples"
    when_empty = "Mark a person's verdict as an example on the page of a result."
    list_display = (
        *("asked", "answered", "verdict", "about", "annotator", "short_note", "standing"),
        "in_result",
    )
    list_filter = (
        ("evaluation__result__revision__template", RelatedDropdownFilter),
        ("evaluation__result__run__suite", RelatedDropdownFilter),
        TagFilter,
        OptionFilter,
        AboutFilter,
    )
    search_fields = ("note", "evaluation__justification", "evaluation__annotator__username")
    search_help_text = "The note, the reasons, or who gave the verdict."
    actions = ("copy_selected",)
    fieldsets = (
        ("The verdict", {"fields": ("verdict", "why", "annotator", "about", "standing")}),
        ("What was judged", {"fields": ("input", "output", "reference", "guidelines")}),
        ("The mark", {"fields": ("note", "marked_by", "created_at", "in_result")}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for _, options in self.fieldsets for name in options["fields"]]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ExampleList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Example]:
        readable: QuerySet[Example] = Example.objects.readable_by(request.user)
        return readable.select_related(*READ).order_by("-created_at", "-pk")

    # The list and one of it ----------------------------------------------------------------------

    @display(description="input")
    def asked(self, row: Example) -> str:
        return first_words(row.evaluation.result.revision.content["messages"])

    @display(description="answer")
    def answered(self, row: Example) -> str:
        return Truncator(" ".join(row.evaluation.result.answer.text.split())).chars(70)

    @display(description="verdict", ordering="evaluation__value")
    def verdict(self, row: Example) -> str:
        said = row.evaluation
        if said.criterion.key:
            return extent_label(said.option, said.value)
        return verdict_label(said.option, said.value, said.result.revision.passes(said.value))

    @display(description="about")
    def about(self, row: Example) -> str:
        return str(row.evaluation.criterion) if row.evaluation.criterion.key else "the whole"

    @display(description="verdict by", ordering="evaluation__annotator__username")
    def annotator(self, row: Example) -> str:
        return str(row.evaluation.annotator)

    @display(description="what it teaches")
    def short_note(self, row: Example) -> str:
        return Truncator(row.note).chars(60) or DASH

    @display(description="stands", label={"yes": "success", "withdrawn or replaced": "warning"})
    def standing(self, row: Any) -> str:
        stands = getattr(row, "is_standing", None)
        if stands is None:
            stands = bool(active_among([row.evaluation]))
        return "yes" if stands else "withdrawn or replaced"

    @display(description="result")
    def in_result(self, row: Example) -> SafeString:
        url = reverse("admin:runs_result_change", args=[row.evaluation.result_id]) + "#people"
        return format_html(
            '<a class="eh-link" href="{}">result {}</a>', url, row.evaluation.result_id
        )

    @display(description="why")
    def why(self, row: Example) -> str:
        return row.evaluation.justification or DASH

    @display(description="input")
    def input(self, row: Example) -> str:
        return self._text(row, "input")

    @display(description="output")
    def output(self, row: Example) -> str:
        return self._text(row, "output")

    @display(description="reference")
    def reference(self, row: Example) -> str:
        return self._text(row, "reference")

    @display(description="guidelines")
    def guidelines(self, row: Example) -> str:
        return self._text(row, "guidelines")

    def _text(self, row: Example, name: str) -> str:
        text = taught_by_human_evaluation(row.evaluation).texts[name]
        return format_html('<pre class="eh-pre">{}</pre>', text) if text else DASH

    # Copying -------------------------------------------------------------------------------------

    def has_copy_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(COPY))

    @admin.action(permissions=["copy"], description="Copy into a template draft …")
    def copy_selected(self, request: HttpRequest, queryset: QuerySet[Example]) -> HttpResponse:
        """Ask for the draft, or copy into it and show the result."""
        rows = list(queryset[: MOST_COPIED + 1])
        form = TargetTemplateForm(request.POST if "apply" in request.POST else None)
        if len(rows) > MOST_COPIED:
            form.add_error(None, f"Copy at most {MOST_COPIED} at once.") if form.is_bound else None
        if form.is_valid():
            template = form.cleaned_data["template"]
            try:
                return self._copied(request, template, rows)
            except Refused as error:
                for problem in error.problems:
                    form.add_error(None, problem)
        return self._ask(request, form, rows)

    def _copied(
        self, request: HttpRequest, template: JudgeTemplate, rows: list[Example]
    ) -> HttpResponse:
        copied = copy_into(template, rows, by=current_user(request))
        known = f" {copied.known} it had already." if copied.known else ""
        said = f"Copied {copied.new} example{'s' * (copied.new != 1)} into {template}.{known}"
        self.message_user(request, said, messages.SUCCESS)
        return HttpResponseRedirect(template.get_absolute_url())

    def _ask(
        self, request: HttpRequest, form: TargetTemplateForm, rows: list[Example]
    ) -> HttpResponse:
        has_drafts = JudgeTemplate.objects.filter(state=TemplateState.DRAFT).exists()
        sentences = [
            "Texts and verdicts are copied as they are now. The verdict must be on the template's "
            "scale: where labels differ, by its value.",
        ]
        if not has_drafts:
            sentences.append("There is no draft yet: begin a new version of a template first.")
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        hidden = [("action", "copy_selected"), ("apply", "1")]
        return self.page(
            request,
            "evalhub/confirm.html",
            title="Copy examples into a template draft",
            sentences=sentences,
            rows=[str(row.evaluation) + f" on result {row.evaluation.result_id}" for row in rows],
            form=form,
            hidden=[*hidden, *((ACTION_CHECKBOX_NAME, pk) for pk in chosen)],
            button="Copy",
            back_url=self.url_of("changelist"),
        )
