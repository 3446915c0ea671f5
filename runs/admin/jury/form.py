"""The form of a jury: its judges, which never change, are found or made from what it says."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.db.models import QuerySet
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate, TemplateState
from runs.admin.jury.preview import JuryPreview, criteria_in, jury_preview_of
from runs.judging.jury_builder import (
    JuryBuilder,
    backup_problem,
    is_criterion_template,
    jury_builder_of,
)
from runs.launching.number_lists import as_list, temperatures_in
from runs.models import DEFAULT_APPROACHES, Approach, Judge, Jury
from runs.models.jury import MAX_SAMPLES

PUT_TOGETHER = {
    *("models", "approaches", "temperatures", "samples"),
    *("whole_prompt", "criterion_prompt", "params"),
}
"""Fields that make the judges. While they stay as they are, so do judges made otherwise."""

APPROACHES = [
    (Approach.TEMPLATE, "Whole tests, by their template"),
    (Approach.PROMPT_AWARE, "Criteria, seeing the prompt"),
    (Approach.HOLISTIC, "Criteria, seeing the whole rubric"),
    (Approach.STANDARD, "Criteria alone"),
]


class PromptField(forms.ModelChoiceField):
    """A published wording that asks about whole tests, or about one criterion."""

    widget = UnfoldAdminSelectWidget

    def __init__(self, *, for_rubrics: bool, **kwargs: Any) -> None:
        self.for_rubrics = for_rubrics
        super().__init__(JudgeTemplate.objects.none(), required=False, **kwargs)

    def offer(self) -> None:
        """Read what there is to choose from; for every form anew."""
        asked = JudgeTemplate.objects.exclude(state=TemplateState.DRAFT)
        fitting = [t.pk for t in asked if is_criterion_template(t) == self.for_rubrics]
        self.queryset = asked.filter(pk__in=fitting)


class JuryForm(forms.ModelForm):
    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.active(),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Each becomes a judge in each of the ways below.",
        error_messages={"required": "Choose at least one model to judge."},
    )
    approaches = forms.MultipleChoiceField(
        choices=APPROACHES,
        initial=[approach.value for approach in DEFAULT_APPROACHES],
        label="What they judge",
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Usual are the first three: tests without a rubric by their template, rubrics "
        "with two looks at every criterion. Each way is a judge with a vote of its own.",
        error_messages={"required": "Choose at least one way of judging."},
    )
    backup_model = forms.ModelChoiceField(
        LanguageModel.objects.active(),
        required=False,
        label="Backup judge",
        widget=UnfoldAdminSelectWidget,
        empty_label="None",
        help_text="Asked once about a criterion where one of the judges failed; its vote counts, "
        "and is marked.",
    )
    temperatures = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "0", "autocomplete": "off"}),
        help_text="Empty: 0, unless the model sets one. Several, such as 0, 0.7, make "
        "a judge of each.",
    )
    samples = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MAX_SAMPLES,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="How often each judge is asked the same. Every sample is a call that is paid; "
        "the share of them that agree is the judge's certainty, which needs a temperature above 0.",
    )
    whole_prompt = PromptField(
        for_rubrics=False,
        label="Wording for whole tests",
        empty_label="Each test's own template",
    )
    criterion_prompt = PromptField(
        for_rubrics=True,
        label="Wording for criteria",
        empty_label="The built-in one of each way of judging",
    )
    params = forms.JSONField(
        required=False,
        initial=dict,
        label="Other parameters",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text='Of all of them, such as {"reasoning_effort": "low"}.',
    )

    class Meta:
        model = Jury
        fields = ("name", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored: list[Judge] = _judges_of(self.instance)
        for field in self.fields.values():
            if isinstance(field, PromptField):
                field.offer()
        if self.stored:
            self.initial = {**_initial(self.stored, self.instance.backup), **self.initial}

    # What was typed ------------------------------------------------------------------------------

    def clean_temperatures(self) -> list[float]:
        try:
            return temperatures_in(self.cleaned_data["temperatures"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_params(self) -> dict[str, Any]:
        params = self.cleaned_data["params"] or {}
        if not isinstance(params, dict):
            raise forms.ValidationError(f"Enter an object of parameters, not {params!r}.")
        if problems := parameter_problems(params):
            raise forms.ValidationError(problems)
        return params

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("temperatures") and "temperature" in values.get("params", {}):
            self.add_error("params", "The temperature is said above: leave it out here.")
        if problem := backup_problem(self.backup_draft(), self.drafts()):
            self.add_error("backup_model", problem)
        return values

    # What it describes ---------------------------------------------------------------------------

    def jury_builder(self) -> JuryBuilder | None:
        """How its judges are put together, as far as it can be read; None without any."""
        read = self.cleaned_data
        if not (read.get("models") and read.get("approaches")):
            return None
        return JuryBuilder(
            models=list(read["models"]),
            approaches=read["approaches"],
            temperatures=read.get("temperatures") or (),
            params=read.get("params") or {},
            samples=read.get("samples") or 1,
            whole=read.get("whole_prompt"),
            rubric=read.get("criterion_prompt"),
        )

    def judges(self) -> list[Judge]:
        jury_builder = self.jury_builder()
        return jury_builder.judges() if jury_builder else []

    def backup(self) -> Judge | None:
        return self._backup(JuryBuilder.backup)

    def drafts(self) -> list[Judge]:
        """The judges that it describes, not saved."""
        jury_builder = self.jury_builder()
        return jury_builder.drafts() if jury_builder else []

    def backup_draft(self) -> Judge | None:
        return self._backup(JuryBuilder.backup_draft)

    def _backup(self, make: Callable[[JuryBuilder, LanguageModel], Judge]) -> Judge | None:
        jury_builder, model = self.jury_builder(), self.cleaned_data.get("backup_model")
        return make(jury_builder, model) if jury_builder and model else None

    # What the page shows -------------------------------------------------------------------------

    @property
    def asked(self) -> JuryPreview:
        """What its judges would be asked: those typed, or those stored."""
        if self.is_bound:
            self.is_valid()
            return jury_preview_of(self.drafts(), self.backup_draft(), criteria_in(self.data))
        return jury_preview_of(self.stored, self.instance.backup, criteria_in({}))

    @property
    def made_elsewhere(self) -> bool:
        """Whether the stored judges cannot be said with this form, but only replaced."""
        return bool(self.stored) and jury_builder_of(self.stored) is None


def _judges_of(jury: Jury) -> list[Judge]:
    if not jury.pk:
        return []
    judges: QuerySet[Judge] = jury.judges.select_related("language_model", "template")
    return list(judges.order_by("pk"))


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
        "whole_prompt": jury_builder.whole and jury_builder.whole.pk,
        "criterion_prompt": jury_builder.rubric and jury_builder.rubric.pk,
        "backup_model": backup and backup.language_model_id,
    }
