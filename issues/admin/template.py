import json
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminRadioSelectWidget

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import counted
from evalhub.display.html import link, text_block
from issues.admin.inlines import PartInline
from issues.admin.state_pages import PanelAdmin
from issues.admin.text_areas import TextAreas, text_area
from issues.content.revisions import content_of
from issues.content.test_texts import first_words
from issues.judge_templates.lifecycle import HAS_EXAMPLES, new_version, publish, retire, shown_by
from issues.judge_templates.preview import preview, sample_answer
from issues.judge_templates.prompts import PromptError, variables_of
from issues.judge_templates.syntax import VARIABLES
from issues.limits import MAX_PROMPT_VARIANTS, MAX_TEMPLATE_EXAMPLES
from issues.models import JudgeTemplate, TemplateExample, TemplateState, TemplateVariant, Test
from issues.rubrics.scales import BINARY, FIVE_CLASSES, ONE_TO_SEVEN, ScaleError, as_json, from_json
from issues.rubrics.scoring import WHOLE_TEST

COPIED = ("input", "output", "reference", "guidelines", "criterion", "option")
"""Fields copied from a human evaluation, which stay as they were."""


class DraftOnlyInline(TextAreas, PartInline):
    """Parts of a template, editable while it is a draft."""

    extra = 0
    tab = True
    show_count = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_fixed = isinstance(obj, JudgeTemplate) and obj.state != TemplateState.DRAFT
        return not is_fixed and super().has_add_permission(request, obj)


class ExampleForm(forms.ModelForm):
    """An example; of a copied one only order and reasons may change."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.test_id:
            for name in COPIED:
                if name in self.fields:
                    self.fields[name].disabled = True


class ExampleInline(DraftOnlyInline):
    """The examples that this user may read; unreadable ones are kept on save."""

    model = TemplateExample
    form = ExampleForm
    max_num = MAX_TEMPLATE_EXAMPLES
    verbose_name = "example"
    verbose_name_plural = "examples"
    fields = (
        "source",
        ("order", "option"),
        "justification",
        "input",
        "output",
        "criterion",
        "reference",
        "guidelines",
    )
    readonly_fields = ("source",)
    text_rows = {
        **dict.fromkeys(("input", "output"), 4),
        **dict.fromkeys(("justification", "criterion", "reference", "guidelines"), 2),
    }
    ordering_field = "order"
    hide_ordering_field = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[TemplateExample]:
        readable = TemplateExample.objects.readable_by(current_user(request))
        return readable.select_related("template", "test").order_by("order", "pk")

    @display(description="from")
    def source(self, example: TemplateExample) -> SafeString | str:
        if example.pk is None or example.test is None:
            return "written for this template"
        never = " (never judged or measured with it)"
        return link(example.test.get_absolute_url(), f"test {example.test_id}", never)


class VariantInline(DraftOnlyInline):
    """A prompt variant for one language model, sent instead of the text above."""

    model = TemplateVariant
    max_num = MAX_PROMPT_VARIANTS
    verbose_name = "prompt variant"
    verbose_name_plural = "prompt variants"
    fields = ("language_model", "text")

    def get_queryset(self, request: HttpRequest) -> QuerySet[TemplateVariant]:
        return super().get_queryset(request).select_related("template", "language_model")  # type: ignore[no-any-return]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "text":
            kwargs["widget"] = text_area(14, **{"class": "eh-mono"})
        return super().formfield_for_dbfield(db_field, request, **kwargs)


PUBLISH = "issues.publish_judgetemplate"
EXAMPLES_SAVED = (
    "Examples and repairs",
    {"fields": (("example_choice", "examples_shown"), "repair_model")},
)
MAX_TESTS = 200


class Indented(json.JSONEncoder):
    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"indent": 2}))


PRESETS = {"pass / fail": BINARY, "five levels": FIVE_CLASSES, "1 to 7": ONE_TO_SEVEN}
SCALE_ATTRS = {
    "class": "eh-mono",
    "data-eh-scale": json.dumps({name: as_json(scale) for name, scale in PRESETS.items()}),
}


class TemplateForm(forms.ModelForm):
    """Form of a template; the text decides what judges are shown."""

    class Meta:
        model = JudgeTemplate
        fields = ("family", "title", "text", "reply_form", "scale", *HAS_EXAMPLES)
        widgets = {
            "text": text_area(22, **{"class": "eh-mono"}),
            "reply_form": UnfoldAdminRadioSelectWidget,
            "example_choice": UnfoldAdminRadioSelectWidget,
            "scale": text_area(14, **SCALE_ATTRS),
        }
        help_texts = {
            "text": "Variables: "
            + ", ".join(f"{{{{ {name} }}}}" for name in sorted(VARIABLES))
            + (
                ". {% if name %} … {% endif %} and loops over criteria are allowed, too. "
                "Examples go where {{ examples }} is, or to the top."
            ),
            "reply_form": (
                "Use “one of the scale's labels” for classifier models: they give no reasons."
            ),
            "example_choice": (
                "“Most similar” picks by built-in word vectors for each answer. Examples "
                "of the same test, or with the same prompt, are never shown."
            ),
            "scale": (
                "Options (label, description, value from 0 to 1), threshold, and rule: "
                "strict passes above the threshold, inclusive also at it."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scale = self.fields.get("scale")
        if isinstance(scale, forms.JSONField):
            scale.encoder = Indented

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        try:
            shown = shown_by(text)
        except PromptError as error:
            raise ValidationError(error.problems) from error
        for name, is_shown in shown.items():
            setattr(self.instance, name, is_shown)
        return text


@admin.register(JudgeTemplate)
class JudgeTemplateAdmin(PanelAdmin):
    """Judge templates: drafts are editable, published versions fixed but followed by new ones."""

    form = TemplateForm
    instead_of_deleting = "Retire a published template instead."
    list_display = ("title", "family", "version", "state_label", "shows", "test_count")
    list_filter = (("state", ChoicesDropdownFilter), "family")
    search_fields = ("title", "family")
    ordering = ("family", "-version")
    readonly_fields = ("version", "prompt", "scale_table", "shows", "created_at", "published_at")
    inlines = (ExampleInline, VariantInline)
    views = {"act": "<int:object_id>/act/", "preview": "<int:object_id>/preview/"}

    class Media:
        js = ("evalhub/scale.js",)
        css = {"all": ("evalhub/rubric.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeTemplate]:
        templates: QuerySet[JudgeTemplate] = super().get_queryset(request)
        return templates.annotate(tests_total=Count("tests"))

    def has_change_permission(self, request: HttpRequest, obj: JudgeTemplate | None = None) -> bool:
        is_draft = obj is None or obj.state == TemplateState.DRAFT
        return is_draft and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: JudgeTemplate | None = None) -> bool:
        is_draft = obj is not None and obj.state == TemplateState.DRAFT
        return is_draft and super().has_delete_permission(request, obj)

    @display(description="shown to judges")
    def shows(self, template: JudgeTemplate) -> str:
        if template.pk is None:
            return "detected from the text"
        shown = {
            "input": template.shows_input,
            "reference": template.shows_reference,
            "guidelines": template.shows_guidelines,
            "whole rubric": template.shows_whole_rubric,
        }
        return ", ".join(["output", *(name for name, is_shown in shown.items() if is_shown)])

    @display(description="tests", ordering="tests_total")
    def test_count(self, template: Any) -> int:
        return int(template.tests_total)

    @display(description="text")
    def prompt(self, template: JudgeTemplate) -> str:
        return text_block(template.text)

    @display(description="options")
    def scale_table(self, template: JudgeTemplate) -> str:
        try:
            scale = from_json(template.scale)
        except ScaleError as error:
            return str(error)
        return render_to_string("issues/scale.html", {"scale": scale})

    def get_fieldsets(self, request: HttpRequest, obj: JudgeTemplate | None = None) -> Any:
        """Return editable fields for a draft, read-only ones otherwise."""
        if obj is None:
            own = ("title", "family", "text", "reply_form", "scale")
            return ((None, {"fields": own}), EXAMPLES_SAVED)
        writes = self.has_change_permission(request, obj)
        text = "text" if writes else "prompt"
        scale = ("reply_form", "scale") if writes else ("reply_form", "scale_table")
        return (
            (None, {"fields": (("title", "family"), ("version", "shows"), text)}),
            ("Scale", {"fields": scale}),
            EXAMPLES_SAVED,
            ("Record", {"fields": (("created_at", "published_at"),)}),
        )

    def facts(self, row: Any) -> list[str]:
        return [f"version {row.version}", f"used by {counted(row.tests_total, 'test')}"]

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        url = self.url_of("act", row.pk)
        own = [Button("Preview", self.url_of("preview", row.pk), is_link=True)]
        if row.state != TemplateState.DRAFT and self.has_add_permission(request):
            own.append(Button("New version", url, {"act": "version"}))
        if request.user.has_perm(PUBLISH):
            if row.state == TemplateState.DRAFT:
                own.append(Button("Publish …", f"{url}?act=publish", kind="primary", is_link=True))
            if row.state == TemplateState.PUBLISHED:
                own.append(Button("Retire …", f"{url}?act=retire", kind="danger", is_link=True))
        return own

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Publish, retire or copy (POST); ask for confirmation (GET)."""
        template = self.found(request, object_id)
        act = (request.POST if request.method == "POST" else request.GET).get("act", "")
        allowed = (
            self.has_add_permission(request) if act == "version" else request.user.has_perm(PUBLISH)
        )
        require(allowed, act in ("publish", "retire", "version"))
        if request.method != "POST":
            return self._ask(request, template, act)
        user = current_user(request)
        with self.refusals_shown(request):
            if act == "version":
                return HttpResponseRedirect(new_version(template, by=user).get_absolute_url())
            do = publish if act == "publish" else retire
            do(template, by=user)
            self.say_done(request, f"{template} is {template.get_state_display().lower()}.")
        return self.back(request, template)

    def _ask(self, request: HttpRequest, template: JudgeTemplate, act: str) -> HttpResponse:
        sentences = {
            "publish": (
                "Once published, tests can use it and it cannot change. You can create a "
                "new version later."
            ),
            "retire": "It will no longer be offered. Tests that use it keep it.",
            "version": "Creates a draft with the next version number as a copy.",
        }
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"{act.capitalize()}: {template}",
            sentences=[sentences[act]],
            hidden=[("act", act)],
            button=act.capitalize(),
            danger=act == "retire",
            back_url=self.url_of("change", template.pk),
        )

    def preview_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the exact prompt for a chosen test; nothing is sent or saved."""
        template = self.found(request, object_id)
        tests = self._tests(request)
        wanted = request.POST.get("test")
        test = next((t for t in tests if str(t.pk) == wanted), next(iter(tests), None))
        kept = test is not None and request.POST.get("shown") == str(test.pk)
        variants = list(template.variants.select_related("language_model"))
        wanted_model = row_number(request.POST.get("model"))
        variant = next((v for v in variants if v.language_model_id == wanted_model), None)
        context: dict[str, Any] = {"prompt": "", "problems": [], "variants": variants}
        if test is None:
            context["no_tests"] = True
        else:
            context["answer"] = request.POST.get("answer", "") if kept else sample_answer(test)
            try:
                context["prompt"] = preview(
                    template,
                    content_of(test),
                    context["answer"],
                    first_prompt(template, test),
                    test_id=test.pk,
                    reader=current_user(request),
                    text=variant.text if variant else None,
                )
            except (PromptError, ScaleError) as error:
                context["problems"] = error.problems
        return self.page(
            request,
            "issues/preview.html",
            title=f"Preview of {template}",
            test=test,
            tests=tests,
            template=template,
            variant=variant,
            back_url=self.url_of("change", template.pk),
            **context,
        )

    def _tests(self, request: HttpRequest) -> list[Any]:
        """Return the tests that this user may read, to choose from."""
        require(request.user.has_perm("issues.view_test"))
        tests = list(Test.objects.readable_by(request.user).select_related("issue")[:MAX_TESTS])
        for test in tests:
            test.words = f"{test.pk}: {first_words(test.messages)}"
        return tests


def first_prompt(template: JudgeTemplate, test: Test) -> str:
    """Return the key of the first judged criterion, for a template about one criterion."""
    if not variables_of(template.text) & {"criterion", "criteria"}:
        return WHOLE_TEST
    asked = test.criteria.filter(check_name="").first()
    return asked.key if asked else WHOLE_TEST
