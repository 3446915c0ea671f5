"""Form of a criterion, with the arguments of its check as fields."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Prefetch, prefetch_related_objects
from django.forms.boundfield import BoundField
from django.forms.models import BaseInlineFormSet

from issues.checks import CHECKS, located_problems_of
from issues.models import Criterion
from issues.models.criterion import Polarity
from issues.rubrics import editing
from issues.rubrics.argument_fields import (
    Argument,
    Kind,
    Unreadable,
    arguments_of,
    collected,
    form_value,
)
from issues.rubrics.argument_fields import read as read_argument
from issues.rubrics.criterion_content import ORIGIN
from issues.rubrics.pasted_criteria import Line, criteria_in
from issues.rubrics.scoring import MAX_WEIGHT, MIN_WEIGHT

ALTERNATIVES = 9
"""Number of alternatives offered; a criterion with a higher number keeps it."""
ARGUMENT = "arg_"
GONE = "Somebody has deleted this criterion. Delete it here too, or add it again."
INPUT = {"class": "eh-input"}
LINES = {"rows": 1, "class": "eh-input eh-grows"}


class PlainSelect(forms.Select):
    template_name = "evalhub/select.html"


class PlainText(forms.CharField):
    """Text with stored line ends, so that an untouched field is unchanged."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


def alternative_choices(own: int | None = None) -> list[tuple[int | str, str]]:
    numbers = list(range(1, ALTERNATIVES + 1))
    if own is not None and own not in numbers:
        numbers.append(own)
    return [("", "required"), *((number, f"alternative {number}") for number in numbers)]


def check_choices(own: str = "") -> list[Any]:
    """Return "judges", then the checks by family; an unknown one keeps its place."""
    families: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for check in CHECKS.values():
        families[check.family].append((check.name, check.title))
    lost = [(own, f"{own} (unknown)")] if own and own not in CHECKS else []
    return [("", "judges"), *families.items(), *lost]


class CriterionForm(forms.ModelForm):
    """Report each error at its field, including the arguments of a check."""

    text = PlainText(
        label="Criterion",
        required=False,
        widget=forms.Textarea({**LINES, "placeholder": "Criterion"}),
    )
    polarity = forms.ChoiceField(
        label="Polarity",
        choices=[(Polarity.SHOULD, "should show"), (Polarity.SHOULD_NOT, "should not show")],
        initial=Polarity.SHOULD,
        widget=PlainSelect(INPUT),
    )
    weight = forms.FloatField(
        min_value=MIN_WEIGHT,
        max_value=MAX_WEIGHT,
        initial=1,
        widget=forms.NumberInput({**INPUT, "min": MIN_WEIGHT, "max": MAX_WEIGHT, "step": "any"}),
    )
    alternative = forms.TypedChoiceField(
        label="Counts",
        required=False,
        coerce=int,
        empty_value=None,
        widget=PlainSelect(INPUT),
    )
    mandatory = forms.BooleanField(required=False)
    check_name = forms.ChoiceField(
        label="Checked by",
        required=False,
        widget=PlainSelect({**INPUT, "data-eh-check": "true"}),
    )
    citation = PlainText(label="Source", required=False, widget=forms.Textarea(LINES))
    order = forms.IntegerField(
        required=False, min_value=0, max_value=30_000, widget=forms.NumberInput(INPUT)
    )
    library_key = forms.SlugField(required=False, max_length=80, widget=forms.HiddenInput)
    library_version = forms.IntegerField(
        required=False, min_value=1, max_value=30_000, widget=forms.HiddenInput
    )

    class Meta:
        model = Criterion
        fields = [n for n in (*editing.COPIED, "order", *ORIGIN) if n != "arguments"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self._chosen_check()
        alternative: Any = self.fields["alternative"]
        alternative.choices = alternative_choices(self.instance.alternative or None)
        check: Any = self.fields["check_name"]
        check.choices = check_choices(chosen)
        self.kept = self.instance.arguments if chosen == self.instance.check_name else {}
        shown = self.initial.get("arguments", self.kept)
        self.check_arguments = arguments_of(chosen)
        for argument in self.check_arguments:
            self.fields[ARGUMENT + argument.name] = field_of(argument)
            if argument.name in shown:
                value = form_value(argument, shown[argument.name])
                self.initial[ARGUMENT + argument.name] = value

    def _chosen_check(self) -> str:
        """Return the check chosen in the sent form, else the stored one."""
        if self.is_bound:
            return str(self.data.get(self.add_prefix("check_name"), ""))
        return str(self.initial.get("check_name") or self.instance.check_name)

    def argument_fields(self) -> Iterator[BoundField]:
        for argument in self.check_arguments:
            yield self[ARGUMENT + argument.name]

    def further_fields(self) -> Iterable[BoundField]:
        """Return the fields that have no place of their own, to show beside the others."""
        return [self[name] for name in self.Meta.fields if name not in self.declared_fields]

    @property
    def opens(self) -> bool:
        """Return True if the citation holds text or an error."""
        return bool(self["citation"].value() or self["citation"].errors)

    def has_changed(self) -> bool:
        """Treat a new row with only a place or a polarity as empty."""
        without = {"order", "polarity"} if self.instance.pk is None else set()
        return bool(set(self.changed_data) - without)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("mandatory") and data.get("alternative") is not None:
            self.add_error("mandatory", "A criterion in an alternative cannot be mandatory.")
        if not data.get("text") and not data.get("check_name"):
            self.add_error("text", "Enter the criterion, or choose a check.")
        self.instance.arguments = self._arguments()
        self._check_arguments(data.get("check_name", ""))
        return data

    def _arguments(self) -> dict[str, Any]:
        given = {}
        for argument in self.check_arguments:
            value = self.cleaned_data.get(ARGUMENT + argument.name)
            if value is True:
                given[argument.name] = value
            elif value and (argument.kind is Kind.TEXT or value.strip()):
                try:
                    given[argument.name] = read_argument(argument, value)
                except Unreadable as error:
                    self.add_error(ARGUMENT + argument.name, str(error))
        return collected(self._chosen_check(), given, self.kept)

    def _check_arguments(self, check_name: str) -> None:
        """Put each problem of an argument at its field; general ones at the check."""
        wrong = set(self.errors)
        problems = located_problems_of(check_name, self.instance.arguments) if check_name else []
        for problem in problems:
            field = ARGUMENT + problem.argument
            if field not in wrong:
                self.add_error(field if field in self.fields else "check_name", problem.message)

    def add_error(self, field: str | None, error: Any) -> None:
        """Leave out what the model says of arguments: each problem is reported at its field."""
        if hasattr(error, "error_dict"):
            by_field = error.error_dict.items()
            error = ValidationError({name: each for name, each in by_field if name in self.fields})
        super().add_error(field, error)


class RubricFormSet(BaseInlineFormSet):
    """Formset of a test's criteria, and pasted lines that become criteria.

    New criteria without a place come last.
    """

    @property
    def pasted(self) -> str:
        return str(self.data.get(f"{self.prefix}-pasted", "")) if self.is_bound else ""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields["id"].error_messages["invalid_choice"] = GONE

    def get_queryset(self) -> Any:
        """Return the criteria of the page's test, read once for all that the page says of them."""
        if self.is_bound or self.instance.pk is None:
            return super().get_queryset()
        rows = Criterion.objects.order_by("order", "pk")
        prefetch_related_objects([self.instance], Prefetch("criteria", rows))
        return list(self.instance.criteria.all())

    def total_form_count(self) -> int:
        """Add the criteria that a new test starts with to the empty rows."""
        given = 0 if self.is_bound else len(self.initial_extra or ())
        return super().total_form_count() + given

    def has_changed(self) -> bool:
        return super().has_changed() or bool(self.pasted.strip())

    def save(self, commit: bool = True) -> list[Criterion]:
        saved: list[Criterion] = super().save(commit)
        lines = [
            Criterion(test=self.instance, text=line.text, polarity=polarity_of(line))
            for line in criteria_in(self.pasted)
        ]
        for line in lines:
            line.order = self._next_place()
            line.save()
            self.new_objects.append(line)
        return [*saved, *lines]

    def save_new(self, form: Any, commit: bool = True) -> Criterion:
        if form.cleaned_data.get("order") is None:
            form.instance.order = self._next_place()
        row: Criterion = super().save_new(form, commit)
        return row

    def _next_place(self) -> int:
        rows = [*(form.instance for form in self.forms), *self.new_objects]
        return 1 + max((row.order for row in rows if row.order), default=0)


def field_of(argument: Argument) -> forms.Field:
    """Return the form field of an argument; required ones are enforced by the check."""
    common: Any = {"label": argument.title, "help_text": argument.help, "required": False}
    if argument.kind is Kind.YES_NO:
        return forms.BooleanField(**common)
    if argument.kind in (Kind.TEXT, Kind.LINES, Kind.JSON):
        rows = 1 if argument.kind is Kind.TEXT else 2
        return PlainText(strip=False, widget=forms.Textarea({**LINES, "rows": rows}), **common)
    shown = "" if argument.default is None else f"{argument.default}"
    widget = forms.TextInput({**INPUT, "placeholder": shown, "size": 8})
    return PlainText(widget=widget, **common)


def polarity_of(line: Line) -> Polarity:
    return Polarity.SHOULD_NOT if line.is_inverted else Polarity.SHOULD
