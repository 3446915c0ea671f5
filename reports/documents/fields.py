"""Fields that several report pages have."""

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
    """One suite, the one that ran last, or none at all: gives a `reports.queries.scope.Choice`."""

    iterator = _Suites

    def __init__(self) -> None:
        super().__init__(
            Suite.objects.only("name").order_by("name"), empty_label="The one that ran last"
        )

    def to_python(self, value: Any) -> Choice:
        found: Choice = NO_SUITE if value == NO_SUITE else super().to_python(value)
        return found


def tag_field() -> forms.ModelChoiceField:
    """One tag by its name."""
    return forms.ModelChoiceField(
        Tag.objects.only("name").order_by("name"), to_field_name="name", empty_label="All tags"
    )


def tests_field() -> forms.ChoiceField:
    """All tests, or those that could be known, or not: open, sealed, exposed."""
    return forms.ChoiceField(label="Tests", choices=CHOICES, initial="")


def tests_filter_help(tests: str) -> tuple[str, ...]:
    """That a report is about some of the tests only, and what they are; nothing where it is not."""
    if not tests:
        return ()
    name = dict(CHOICES)[tests].lower()
    defined = (DEFINITION,) if tests in (NEVER, EXPOSED) else ()
    return (f"Only some of the tests: {name}.", *defined)


def issue_field() -> forms.ModelChoiceField:
    """One issue by its number: a list of all could be very long."""
    number = forms.NumberInput(attrs={"min": 1, "placeholder": "All issues"})
    return forms.ModelChoiceField(
        Issue.objects.only("title"), widget=number, label="Number of an issue"
    )


class SeveralField(forms.ModelMultipleChoiceField):
    """Some rows by their numbers; a number that no database can look for names none."""

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
    """Some of the models that were run; none chosen are all."""
    return SeveralField(
        LanguageModel.objects.filter(pk__in=Run.objects.order_by().values("language_model"))
        .only("name")
        .order_by("name"),
        label="Models",
        widget=forms.SelectMultiple(attrs={"size": 4}),
        help_text="None chosen: all.",
    )
