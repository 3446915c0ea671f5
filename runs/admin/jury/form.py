"""The jury form; its judges, which never change, are found or created from its fields."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from django import forms
from django.db.models import Q, prefetch_related_objects
from django.urls import reverse
from django.utils.html import format_html
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from evalhub.admin_site.json_field import BoundedJSONField
from evalhub.admin_site.pages import row_number
from evalhub.display.html import link
from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate, TemplateState
from issues.models.template import is_criterion_template
from runs.judging.jury_builder import (
    SEEN,
    JuryBuilder,
    backup_problem,
    jury_builder_of,
)
from runs.launching.judge_load import judge_shares, jury_preview
from runs.launching.launch_selection import backup_of_one_model, equal_samples
from runs.launching.number_lists import as_list, temperatures_in
from runs.limits import MAX_JUDGE_SAMPLES
from runs.models import DEFAULT_APPROACHES, Approach, Judge, Jury, Method
from runs.models.jury import MAX_ROLE

PUT_TOGETHER = {
    *("models", "approaches", "temperatures", "samples"),
    *("whole_prompt", "criterion_prompt", "params", "method", "role"),
}
"""Fields that define the judges; judges from elsewhere stay until one of these changes."""

DEFAULT_CRITERIA, MAX_CRITERIA = 5, 200
"""Of the rubric in the preview."""

APPROACHES = [
    (Approach.TEMPLATE, "Whole test, with its judge template"),
    (Approach.PROMPT_AWARE, "Single criterion, with the prompt"),
    (Approach.HOLISTIC, "Single criterion, with the whole rubric"),
    (Approach.STANDARD, "Single criterion, answer only"),
]

METHOD_HELP = (
    "Self-critique: the judge rates its judgment, and judges once more if the rating is low. "
    "Debate: it argues for every option before it chooses."
)
METHODS = [
    (Method.SINGLE, "One call"),
    (Method.SELF_CRITIQUE, "Self-critique: 2 or 3 calls"),
    (Method.DEBATE, "Debate: 2 or 4 calls"),
]


@dataclass(frozen=True)
class JudgePreview:
    """A judge, with its calls for a test without rubric and for one with a rubric."""

    name: str
    sees: str
    samples: int
    method: str
    whole: int
    rubric: int


@dataclass(frozen=True)
class JuryPreview:
    """Calls of all judges, for an example rubric of `criteria` criteria."""

    lines: list[JudgePreview]
    criteria: int
    backup: Judge | None
    warnings: list[str]

    @property
    def whole(self) -> int:
        return sum(line.whole for line in self.lines)

    @property
    def rubric(self) -> int:
        return sum(line.rubric for line in self.lines)

    @property
    def takes_several(self) -> bool:
        """Return whether the calls of a judgment depend on its replies."""
        return any(line.method != Method.SINGLE for line in self.lines)

    @property
    def samples(self) -> int:
        """Most samples of any judge."""
        return max((line.samples for line in self.lines), default=1)


def jury_preview_of(judges: Sequence[Judge], backup: Judge | None, criteria: int) -> JuryPreview:
    lines = []
    for judge, share in zip(judges, judge_shares(jury_preview(judges), criteria), strict=True):
        sees = SEEN[Approach(judge.approach)]
        if judge.approach == Approach.TEMPLATE and judge.template:
            sees = f"the fields of {judge.template}"
        if judge.approach == Approach.TEMPLATE and share.rubric:
            sees = f"{sees}; for a rubric {SEEN[Approach.PROMPT_AWARE]}"
        about = (str(judge), sees, judge.samples, judge.method)
        lines.append(JudgePreview(*about, share.whole, share.rubric))
    warnings = [*equal_samples(judges), *backup_of_one_model(judges, backup)]
    return JuryPreview(lines, criteria, backup, warnings)


class PromptField(forms.ModelChoiceField):
    """A published judge template, for whole tests or for criteria."""

    widget = UnfoldAdminSelectWidget

    def __init__(self, *, for_rubrics: bool, **kwargs: Any) -> None:
        self.for_rubrics = for_rubrics
        super().__init__(JudgeTemplate.objects.none(), required=False, **kwargs)

    def offer(self, templates: Mapping[int, bool]) -> None:
        """Offer those that fit of the templates, which are by whether each is for criteria."""
        fitting = [pk for pk, for_rubrics in templates.items() if for_rubrics == self.for_rubrics]
        self.queryset = JudgeTemplate.objects.filter(pk__in=fitting).only("title", "version")


def _kinds_of_templates() -> dict[int, bool]:
    """Return whether each template that may be chosen is for criteria."""
    rows = JudgeTemplate.objects.exclude(state=TemplateState.DRAFT).values_list("pk", "text")
    return {pk: is_criterion_template(text) for pk, text in rows}


NO_MODELS = "No language model is active. {} first."


class JudgeModelField(forms.ModelChoiceField):
    """The active models, and those that the jury has: saving it never drops a judge."""

    def label_from_instance(self, model: LanguageModel) -> str:
        return str(model) if model.is_active else f"{model} (inactive)"

    def offer(self, own: Iterable[Judge]) -> bool:
        """Read the models to choose from; tell whether there are any."""
        models = {judge.language_model_id for judge in own}
        able = LanguageModel.objects.not_applications()
        offered = able.filter(Q(is_active=True) | Q(pk__in=models))
        self.queryset = offered
        return offered.exists()


class JudgeModelsField(JudgeModelField, forms.ModelMultipleChoiceField):
    """Several of them."""


class JuryForm(forms.ModelForm):
    models = JudgeModelsField(
        LanguageModel.objects.none(),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="One judge for each model and approach.",
        error_messages={"required": "Choose at least one model to judge."},
    )
    approaches = forms.MultipleChoiceField(
        choices=APPROACHES,
        initial=[approach.value for approach in DEFAULT_APPROACHES],
        label="Approaches",
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="The default covers tests without a rubric and looks twice at every criterion of "
        "the others. Each approach is a judge of its own.",
        error_messages={"required": "Choose at least one approach."},
    )
    backup_model = JudgeModelField(
        LanguageModel.objects.none(),
        required=False,
        label="Backup judge",
        widget=UnfoldAdminSelectWidget,
        empty_label="None",
        help_text="Called once per criterion if a judge fails. Its judgment counts and is marked.",
    )
    temperatures = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "0", "autocomplete": "off"}),
        help_text="One judge for each, such as 0, 0.7. Leave empty for 0, or the model's own.",
    )
    samples = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MAX_JUDGE_SAMPLES,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="How often each judge judges. The share that agree is the judge's certainty, "
        "which needs a temperature above 0. Every sample costs all calls of the method.",
    )
    method = forms.ChoiceField(
        choices=METHODS,
        initial=Method.SINGLE,
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=METHOD_HELP,
    )
    role = forms.CharField(
        required=False,
        max_length=MAX_ROLE,
        label="Role of the judges",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Such as “You are a nurse who knows the leaflet by heart.” It comes before "
        "every prompt. A workbench can suggest one.",
    )
    whole_prompt = PromptField(
        for_rubrics=False,
        label="Template for whole tests",
        empty_label="Each test's own template",
    )
    criterion_prompt = PromptField(
        for_rubrics=True,
        label="Template for criteria",
        empty_label="Built-in, by approach",
    )
    params = BoundedJSONField(
        required=False,
        initial=dict,
        label="Other parameters",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text='For every judge, such as {"reasoning_effort": "low"}.',
    )

    class Meta:
        model = Jury
        fields = ("name", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored: list[Judge] = []
        if self.instance.pk:
            prefetch_related_objects([self.instance], "judges__language_model", "judges__template")
            self.stored = sorted(self.instance.judges.all(), key=attrgetter("pk"))
        backup = self.instance.backup
        own = [*self.stored, *([backup] if backup else [])]
        templates = _kinds_of_templates()
        for field in self.fields.values():
            if isinstance(field, PromptField):
                field.offer(templates)
            elif isinstance(field, JudgeModelField) and not field.offer(own) and field.required:
                add_url = reverse("admin:evalhub_languagemodel_add")
                field.help_text = format_html(NO_MODELS, link(add_url, "Add a model"))
        if self.stored:
            self.initial = {**_initial(self.stored, backup), **self.initial}

    # Input --------------------------------------------------------------------------------------

    def clean_temperatures(self) -> list[float]:
        try:
            return temperatures_in(self.cleaned_data["temperatures"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_params(self) -> dict[str, Any]:
        params = self.cleaned_data["params"] or {}
        if not isinstance(params, dict):
            raise forms.ValidationError(f"Enter a JSON object of parameters, not {params!r}.")
        if problems := parameter_problems(params):
            raise forms.ValidationError(problems)
        return params

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("temperatures") and "temperature" in values.get("params", {}):
            self.add_error("params", "Set the temperature in its own field above.")
        if problem := backup_problem(self.backup_draft(), self.drafts()):
            self.add_error("backup_model", problem)
        return values

    # Judges --------------------------------------------------------------------------------------

    def jury_builder(self) -> JuryBuilder | None:
        """Return the builder of its judges, as far as the form is valid; None without models."""
        read = self.cleaned_data
        if not (read.get("models") and read.get("approaches")):
            return None
        return JuryBuilder(
            models=list(read["models"]),
            approaches=read["approaches"],
            temperatures=read.get("temperatures") or (),
            params=read.get("params") or {},
            samples=read.get("samples") or 1,
            method=read.get("method") or Method.SINGLE,
            role=read.get("role") or "",
            whole=read.get("whole_prompt"),
            rubric=read.get("criterion_prompt"),
        )

    def judges(self) -> list[Judge]:
        jury_builder = self.jury_builder()
        return jury_builder.judges() if jury_builder else []

    def backup(self) -> Judge | None:
        return self._backup(JuryBuilder.backup)

    def drafts(self) -> list[Judge]:
        """Return its judges, not saved."""
        jury_builder = self.jury_builder()
        return jury_builder.drafts() if jury_builder else []

    def backup_draft(self) -> Judge | None:
        return self._backup(JuryBuilder.backup_draft)

    def _backup(self, make: Callable[[JuryBuilder, LanguageModel], Judge]) -> Judge | None:
        jury_builder, model = self.jury_builder(), self.cleaned_data.get("backup_model")
        return make(jury_builder, model) if jury_builder and model else None

    # Page ----------------------------------------------------------------------------------------

    @cached_property
    def preview(self) -> JuryPreview:
        """Return the calls of the judges that are entered, or of those stored."""
        criteria = min(row_number(self.data.get("criteria")) or DEFAULT_CRITERIA, MAX_CRITERIA)
        if self.is_bound:
            self.is_valid()
            return jury_preview_of(self.drafts(), self.backup_draft(), criteria)
        return jury_preview_of(self.stored, self.instance.backup, criteria)

    @property
    def made_elsewhere(self) -> bool:
        """Return whether this form cannot express the stored judges, only replace them."""
        return bool(self.stored) and jury_builder_of(self.stored) is None


def _initial(judges: list[Judge], backup: Judge | None) -> dict[str, Any]:
    jury_builder = jury_builder_of(judges) or JuryBuilder(
        list({judge.language_model for judge in judges})
    )
    return {
        "models": [model.pk for model in jury_builder.models],
        "approaches": [str(approach) for approach in jury_builder.approaches],
        "temperatures": as_list(jury_builder.temperatures),
        "params": jury_builder.params,
        "samples": jury_builder.samples,
        "method": jury_builder.method,
        "role": jury_builder.role,
        "whole_prompt": jury_builder.whole and jury_builder.whole.pk,
        "criterion_prompt": jury_builder.rubric and jury_builder.rubric.pk,
        "backup_model": backup and backup.language_model_id,
    }
