"""Form fields shared by report pages."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms.models import ModelChoiceIterator

from evalhub.admin_site.pages import row_number
from evalhub.models import LanguageModel
from issues.models import Issue, Tag
from reports.queries.exposure import CHOICES, DEFINITION, EXPOSED, NEVER
from reports.queries.scope import NO_SUITE, Choice
from runs.models import Run, Suite


class _Suites(ModelChoiceIterator):
    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        yield NO_SUITE, "Runs without a suite"


class SuiteField(forms.ModelChoiceField):
    """A suite, the latest one or all; gives a `reports.queries.scope.Choice`."""

    iterator = _Suites

    def __init__(self) -> None:
        super().__init__(
            Suite.objects.only("name").order_by("name"),
            empty_label="Latest suite with several runs",
        )

    def to_python(self, value: Any) -> Choice:
        found: Choice = NO_SUITE if value == NO_SUITE else super().to_python(value)
        return found


def tag_field() -> forms.ModelChoiceField:
    """A tag by its name."""
    return forms.ModelChoiceField(
        Tag.objects.only("name").order_by("name"), to_field_name="name", empty_label="All tags"
    )


def tests_field() -> forms.ChoiceField:
    """Return a choice of all, open, sealed or exposed tests."""
    return forms.ChoiceField(label="Tests", choices=CHOICES, initial="")


def tests_filter_help(tests: str) -> tuple[str, ...]:
    """Return a sentence on the chosen tests; empty for all tests."""
    if not tests:
        return ()
    name = dict(CHOICES)[tests].lower()
    defined = (DEFINITION,) if tests in (NEVER, EXPOSED) else ()
    return (f"Only some of the tests: {name}.", *defined)


def issue_field() -> forms.ModelChoiceField:
    """An issue by its ID, as a list of all could be very long."""
    number = forms.NumberInput(attrs={"min": 1, "placeholder": "All issues"})
    return forms.ModelChoiceField(Issue.objects.only("title"), widget=number, label="Issue number")


class SeveralField(forms.ModelMultipleChoiceField):
    """Rows by their IDs; an ID out of the database's range matches none."""

    def clean(self, value: Any) -> Any:
        for one in value or ():
            if row_number(str(one)) == 0:
                raise forms.ValidationError(
                    self.error_messages["invalid_pk_value"],
                    code="invalid_pk_value",
                    params={"pk": f"{one!s:.40}"},
                )
        return super().clean(value)


def models_field() -> forms.ModelMultipleChoiceField:
    """Models with runs; no choice means all."""
    return SeveralField(
        LanguageModel.objects.filter(pk__in=Run.objects.order_by().values("language_model"))
        .only("name")
        .order_by("name"),
        label="Models",
        widget=forms.CheckboxSelectMultiple,
    )
