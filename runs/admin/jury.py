from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
)

from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel
from evalhub.pages import HistoryAdmin
from issues.models import JudgeTemplate, TemplateState
from runs.models import Judge, Jury

PUT_TOGETHER = {"models", "template", "params"}
"""Fields that make the judges. While they stay as they are, so do judges made otherwise."""


class JuryForm(forms.ModelForm):
    """A jury is put together from models; its judges, which never change, are found or made."""

    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.active(),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Each becomes a judge.",
    )
    template = forms.ModelChoiceField(
        JudgeTemplate.objects.exclude(state=TemplateState.DRAFT),
        required=False,
        widget=UnfoldAdminSelectWidget,
        empty_label="Each test's own",
        help_text="With which wording all of them are asked.",
    )
    params = forms.JSONField(
        required=False,
        initial=dict,
        label="Parameters",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text='Of all of them, such as {"temperature": 0.2}. Empty: temperature 0.',
    )

    class Meta:
        model = Jury
        fields = ("name", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges = list(self.instance.judges.all()) if self.instance.pk else []
        self.initial.setdefault("models", [judge.language_model_id for judge in judges])
        if judges:
            self.initial.setdefault("template", judges[0].template_id)
            self.initial.setdefault("params", judges[0].params)

    def clean_params(self) -> dict[str, Any]:
        params = self.cleaned_data["params"] or {}
        if not isinstance(params, dict):
            raise forms.ValidationError(f"Enter an object of parameters, not {params!r}.")
        if problems := parameter_problems(params):
            raise forms.ValidationError(problems)
        return params

    def judges(self) -> list[Judge]:
        """The judges that the form describes."""
        chosen = {name: self.cleaned_data[name] for name in ("params", "template")}
        return [Judge.objects.given(model, **chosen) for model in self.cleaned_data["models"]]


@admin.register(Jury)
class JuryAdmin(HistoryAdmin):
    when_empty = "The models of a jury judge the answers; what people say comes first."
    instead_of_deleting = "One that is no longer wanted can be made inactive."
    form = JuryForm
    list_display = ("name", "judge_names", "is_active", "created_at")
    list_filter = ("is_active",)
    search_fields = ("name",)
    fieldsets = ((None, {"fields": ("name", "models", "template", "params", "is_active")}),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Jury]:
        juries: QuerySet[Jury] = super().get_queryset(request)
        juries = juries.prefetch_related("judges__language_model")
        return juries.prefetch_related("judges__template")

    @display(description="Judges")
    def judge_names(self, jury: Jury) -> str:
        return ", ".join(_named(judge) for judge in jury.judges.all()) or "none yet"

    def get_fieldsets(self, request: HttpRequest, obj: Jury | None = None) -> Any:
        if obj is not None and not self.has_change_permission(request, obj):
            return ((None, {"fields": ("name", "judge_names", "is_active")}),)
        return self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Jury | None = None) -> Any:
        return ("judge_names",)

    def save_related(
        self, request: HttpRequest, form: JuryForm, formsets: Any, change: bool
    ) -> None:
        """Old judgings keep their own copy of the jury, so changing it changes no old result."""
        super().save_related(request, form, formsets, change)
        if not change or PUT_TOGETHER & set(form.changed_data):
            form.instance.judges.set(form.judges())


def _named(judge: Judge) -> str:
    return f"{judge} (scripted)" if judge.language_model.is_scripted else str(judge)
