"""Inlines of a judge template: labelled examples and prompt variants."""

from typing import Any

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from evalhub.admin_site.pages import current_user
from evalhub.display.html import link
from issues.admin.inlines import PartInline
from issues.admin.text_areas import TextAreas, text_area
from issues.limits import MAX_PROMPT_VARIANTS, MAX_TEMPLATE_EXAMPLES
from issues.models import JudgeTemplate, TemplateExample, TemplateState, TemplateVariant

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
