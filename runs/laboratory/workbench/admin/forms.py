"""Forms of a workbench: its settings, criteria with a target option, and where rows go."""

import json
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.forms.boundfield import BoundField
from django.http import QueryDict

from evalhub.models import LanguageModel
from issues.admin.rubric.criterion_form import INPUT, CriterionForm, PlainText
from issues.admin.rubric.inline import RubricInline
from issues.admin.rubric.preview import PREFIX, problems_of_criteria, sent_criteria
from issues.admin.template import SCALE_ATTRS
from issues.admin.test.bulk import MoveForm
from issues.limits import MAX_CRITERIA
from issues.models import JudgeTemplate, ReplyForm, Test
from issues.rubrics.criterion_content import columns_of
from runs.admin.jury.form import METHOD_HELP, METHODS
from runs.laboratory.pairwise.models import MAX_CRITERION
from runs.laboratory.workbench.contents import keyed
from runs.laboratory.workbench.judges import judge_models, templates_to_choose
from runs.laboratory.workbench.models import Workbench
from runs.limits import MAX_WORKBENCH_SAMPLES
from runs.models import Jury
from runs.models.jury import MAX_ROLE

AREA = {"class": "eh-input eh-grows", "rows": 2}
OUTSIDE = {"form": "wb-settings"}
"""Of fields of the settings that are shown elsewhere on the page."""


class BenchCriterionForm(CriterionForm):
    """A criterion of a rubric, and the option that counts as met."""

    labels: tuple[str, ...] = ()
    key = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    target = forms.ChoiceField(label="Target option", required=False, widget=forms.Select(INPUT))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "each option’s value"), *((label, label) for label in self.labels)]
        self.fields["target"].choices = choices  # type: ignore[attr-defined]

    def further_fields(self) -> Iterable[BoundField]:
        return [*super().further_fields(), self["target"]]


def criterion_form(bench: Workbench) -> type[BenchCriterionForm]:
    """Return the form class with the options of the workbench's scale."""
    labels = tuple(option["label"] for option in bench.scale["options"])
    return type("OwnCriterionForm", (BenchCriterionForm,), {"labels": labels})


def rubric_of(bench: Workbench) -> dict[str, Any]:
    """Return the rubric's editor, as its template takes it."""
    factory = forms.formset_factory(
        criterion_form(bench), extra=0, can_delete=True, max_num=MAX_CRITERIA
    )
    initial = [
        columns_of(content) | {"target": content.get("target", ""), "order": place}
        for place, content in enumerate(bench.criteria, 1)
    ]
    return {
        "formset": factory(prefix=PREFIX, initial=initial),
        "opts": RubricInline(Test, admin.site),
        "has_change_permission": True,
    }


def sent_contents(bench: Workbench, sent: QueryDict) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the sent criteria with their keys and targets, and what is wrong with them."""
    found = sent_criteria(sent, criterion_form(bench))
    contents = [
        form.instance.as_content()
        | {name: str(form.cleaned_data.get(name) or "") for name in ("key", "target")}
        for form in found
    ]
    return keyed(contents, bench.criteria), problems_of_criteria(found)


class SettingsForm(forms.ModelForm):
    """Name, prompt and judges of a workbench."""

    text = PlainText(
        label="Prompt",
        strip=False,
        widget=forms.Textarea({"class": "eh-input eh-mono", "rows": 12}),
    )
    guidelines = PlainText(required=False, strip=False, widget=forms.Textarea(AREA))
    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    templates = forms.ModelMultipleChoiceField(
        JudgeTemplate.objects.none(),
        required=False,
        label="Other judge templates",
        widget=forms.CheckboxSelectMultiple,
    )
    jury = forms.ModelChoiceField(
        Jury.objects.filter(is_active=True),
        required=False,
        empty_label="the models below",
        widget=forms.Select(INPUT),
    )
    samples = forms.IntegerField(
        min_value=1,
        max_value=MAX_WORKBENCH_SAMPLES,
        required=False,
        widget=forms.NumberInput({**INPUT, "min": 1, "max": MAX_WORKBENCH_SAMPLES}),
    )
    method = forms.ChoiceField(
        choices=METHODS, required=False, widget=forms.Select(INPUT), help_text=METHOD_HELP
    )
    role = PlainText(
        required=False,
        max_length=MAX_ROLE,
        label="Role",
        widget=forms.Textarea({**AREA, "placeholder": "You are …"}),
    )
    reversed = forms.BooleanField(required=False, label="Also ask with the options reversed")

    better = PlainText(
        required=False,
        max_length=MAX_CRITERION,
        label="What makes an answer better",
        widget=forms.Textarea(
            {**AREA, **OUTSIDE, "placeholder": "Guidelines, criteria and reference"}
        ),
    )
    ties = forms.BooleanField(
        required=False, label="Ties allowed", widget=forms.CheckboxInput(OUTSIDE)
    )

    class Meta:
        model = Workbench
        fields = ("name", "is_shared", "guidelines", "text", "scale", "reply_form")
        widgets = {
            "name": forms.TextInput(INPUT),
            "scale": forms.Textarea({**SCALE_ATTRS, "class": "eh-input eh-mono", "rows": 10}),
            "reply_form": forms.Select(INPUT, choices=ReplyForm.choices),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["models"].queryset = judge_models()  # type: ignore[attr-defined]
        offered = templates_to_choose(on_criteria=bool(self.instance.criteria))
        self.fields["templates"].queryset = JudgeTemplate.objects.filter(  # type: ignore[attr-defined]
            pk__in=[template.pk for template in offered]
        )
        self.fields["scale"].encoder = _Indented  # type: ignore[attr-defined]
        self.initial.update({"ties": True, "samples": 1, **self.instance.judges})

    def contents(self) -> dict[str, Any]:
        """Return the fields of a valid form, as `save_contents` takes them."""
        data = self.cleaned_data
        judges = {
            "models": [model.pk for model in data["models"]],
            "templates": [template.pk for template in data["templates"]],
            "jury": data["jury"].pk if data["jury"] else None,
            "samples": data["samples"] or 1,
            **{name: data[name] for name in ("method", "role", "reversed", "better", "ties")},
        }
        return {name: data[name] for name in self.Meta.fields} | {"judges": judges}


class _Indented(json.JSONEncoder):
    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"indent": 2}))


class IssueForm(MoveForm):
    """The issue that draft tests are made for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["issue"].label = "Issue"


class NewForm(forms.Form):
    """A new workbench."""

    name = forms.CharField(max_length=150, widget=forms.TextInput(INPUT))
    template = forms.ModelChoiceField(
        JudgeTemplate.objects.none(),
        required=False,
        label="Judge template",
        empty_label="for whole answers",
        widget=forms.Select(INPUT),
        help_text="Its prompt and scale are copied: edits here do not change it.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["template"].queryset = JudgeTemplate.objects.exclude(state="retired").order_by(  # type: ignore[attr-defined]
            "title", "-version"
        )
