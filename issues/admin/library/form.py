"""Form of a library criterion: its examples as plain fields."""

import json
from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from issues.admin.rubric.criterion_form import check_choices
from issues.admin.text_areas import text_area
from issues.models import CriterionKind, LibraryCriterion
from issues.models.library import binary_scale
from issues.rubrics.library.content import EXAMPLE_FIELDS, MAX_TAGS, ROLES
from issues.rubrics.scales import FIVE_CLASSES, as_json

LONG = {"input": 2, "context": 2, "answer": 3, "other": 3}
LABELS = {
    "context": "documents",
    "other": "second answer",
    "option": "chosen option",
    "why": "reason",
}
LEVELS = {
    "options": [
        {"label": "Yes", "description": "", "value": 1},
        {"label": "Partly", "description": "", "value": 0.5},
        {"label": "No", "description": "", "value": 0},
    ],
    "threshold": 0.5,
    "rule": "strict",
}
PRESETS = {"yes / no": binary_scale(), "three": LEVELS, "five levels": as_json(FIVE_CLASSES)}
SCALE_ATTRS = {"class": "eh-mono", "data-eh-scale": json.dumps(PRESETS)}


def example_field(role: str, name: str) -> str:
    return f"{role}_{name}"


def example_names(role: str, *, is_pairwise: bool) -> list[str]:
    """Return the form's fields of one example."""
    names = [name for name in EXAMPLE_FIELDS if is_pairwise or name != "other"]
    return [example_field(role, name) for name in names]


def _fields_of_examples() -> Iterator[tuple[str, forms.CharField]]:
    for role in ROLES:
        for name in EXAMPLE_FIELDS:
            widget = text_area(LONG[name]) if name in LONG else UnfoldAdminTextInputWidget()
            label = LABELS.get(name, name).capitalize()
            yield (
                example_field(role, name),
                forms.CharField(label=label, required=False, strip=True, widget=widget),
            )


class TagsField(forms.CharField):
    """A list of words, separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [tag.strip() for tag in str(super().to_python(value)).split(",") if tag.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class LibraryForm(forms.ModelForm):
    """`kind` is that of a new criterion; that of a saved one never changes."""

    kind = CriterionKind.DIRECT
    check_name = forms.ChoiceField(
        label="Checked by", required=False, widget=UnfoldAdminSelectWidget
    )
    tags = TagsField(
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=f"Up to {MAX_TAGS} words to find it by, separated by commas.",
    )

    class Meta:
        model = LibraryCriterion
        fields = (
            *("name", "key", "shelf", "judged_text", "question", "description"),
            *("polarity", "scale", "check_name", "arguments"),
        )
        widgets = {
            "question": text_area(2),
            "description": text_area(2),
            "polarity": UnfoldAdminRadioSelectWidget,
            "judged_text": UnfoldAdminRadioSelectWidget,
            "scale": text_area(10, **SCALE_ATTRS),
            "arguments": text_area(2, **{"class": "eh-mono"}),
        }
        help_texts = {
            "judged_text": "Rubrics take criteria about the answer only.",
            "scale": (
                "From best to worst. A higher value is always better, also if the question "
                "asks about a fault."
            ),
            "arguments": "As JSON, for the check.",
        }

    locals().update(_fields_of_examples())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            self.instance.kind = self.kind
        if check := self.fields.get("check_name"):
            check.choices = check_choices(self.instance.check_name)  # type: ignore[attr-defined]
        for role, example in (self.instance.examples or {}).items():
            for name, text in example.items():
                self.initial.setdefault(example_field(role, name), text)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.instance.kind == CriterionKind.PAIRWISE:
            self.instance.scale = None
        if "passing_answer" in self.fields:
            self.instance.examples = self._examples(data)
        return data

    def _examples(self, data: dict[str, Any]) -> dict[str, dict[str, str]]:
        found = {}
        for role in ROLES:
            texts = {name: data.get(example_field(role, name), "") for name in EXAMPLE_FIELDS}
            if filled := {name: text.replace("\r\n", "\n") for name, text in texts.items() if text}:
                found[role] = filled
        return found

    def add_error(self, field: str | None, error: Any) -> None:
        """Show problems of the examples above the form, where no single field holds them."""
        if hasattr(error, "error_dict"):
            placed: dict[str, list[Any]] = {}
            for name, problems in error.error_dict.items():
                place = name if name in self.fields else NON_FIELD_ERRORS
                placed.setdefault(place, []).extend(problems)
            error = ValidationError(placed)
        super().add_error(field, error)
