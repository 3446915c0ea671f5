"""Form fields made from the options of `LaunchSpec`."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, get_origin

from annotated_types import Ge, Le, MaxLen
from django import forms
from django.apps import apps
from django.db.models import Choices

from runs.launching.launch_options import OPTIONS, entry_of
from runs.launching.number_lists import as_list, as_ranges, numbers_in, temperatures_in

FORM_FIELDS = tuple(
    name for name in OPTIONS if name not in ("system_prompts", "params", "allow_sealed_exposure")
)
"""Options with one input each. System prompts and parameters have an input per row, and the
consent to an exposure names the exposure that it is for."""


class NumbersField(forms.CharField):
    """A list of numbers in one input; `write` makes the text that `read` reads."""

    def __init__(
        self, read: Callable[[str], list[Any]], write: Callable[[Iterable[Any]], str], **rest: Any
    ) -> None:
        super().__init__(**rest)
        self.read, self.write = read, write

    def to_python(self, value: Any) -> Any:
        try:
            return self.read(super().to_python(value) or "")
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


def form_field(name: str) -> forms.Field:
    """Return the form field of an option, with its label, help text and limits."""
    option, entry = OPTIONS[name], entry_of(name)
    kind = get_origin(option.annotation) or option.annotation
    common: dict[str, Any] = {
        "label": option.title,
        "help_text": option.description,
        "required": option.is_required() or kind is int,
    }
    if kind is bool:
        return forms.BooleanField(**common)
    if isinstance(kind, type) and issubclass(kind, Choices):
        widget = forms.Select({"class": "eh-input"})
        return forms.ChoiceField(choices=kind.choices, widget=widget, **common)
    if entry.rows:
        return _rows_field(entry.rows, is_list=kind is list, empty=entry.empty, common=common)
    attributes = {"class": "eh-input", "placeholder": entry.empty, "autocomplete": "off"}
    text = forms.TextInput(attributes)
    if kind is list:
        convert = (numbers_in, as_ranges) if name == "tests" else (temperatures_in, as_list)
        return NumbersField(*convert, widget=text, **common)
    limits = {type(limit): limit for limit in option.metadata}
    if kind is str:
        common["error_messages"] = {"required": f"Enter a {name}."}
        return forms.CharField(max_length=limits[MaxLen].max_length, widget=text, **common)
    if Ge not in limits:
        return forms.DecimalField(
            min_value=Decimal("0.0001"), max_digits=12, decimal_places=4, widget=text, **common
        )
    low, high = limits[Ge].ge, limits[Le].le
    return (forms.IntegerField if kind is int else forms.FloatField)(
        min_value=low,
        max_value=high,
        widget=forms.NumberInput({"class": "eh-input"}),
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"),
            f"Enter a number from {low} to {high}.",
        ),
        **common,
    )


def _rows_field(path: str, *, is_list: bool, empty: str, common: dict[str, Any]) -> forms.Field:
    model = apps.get_model(path)
    rows = model._default_manager.all()
    if any(field.name == "is_active" for field in model._meta.get_fields()):
        rows = rows.filter(is_active=True)
    common["error_messages"] = {
        "required": "Choose at least one.",
        "invalid_choice": "%(value)s is unknown or inactive: choose another one.",
    }
    if is_list:
        return forms.ModelMultipleChoiceField(rows, **common)
    widget = forms.Select({"class": "eh-input"})
    return forms.ModelChoiceField(rows, empty_label=empty, widget=widget, **common)
