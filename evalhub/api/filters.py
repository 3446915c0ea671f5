"""Filters and orders by the names that a view declares; every other parameter is refused.

A lookup such as `user__password__startswith` never reaches the database: no name of a filter has
two underscores, and what is not a name is an error.
"""

from collections.abc import Collection, Iterable
from typing import Any

from django import forms
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request
from rest_framework.views import APIView

PAGING = ("cursor", "page_size")
HIGHEST_ID = 2**63 - 1


class Id(filters.NumberFilter):
    """The number of a row."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, min_value=1, max_value=HIGHEST_ID, **kwargs)

    def get_max_validator(self) -> None:
        return None


class TrueOrFalse(forms.NullBooleanField):
    """Django's own takes every other word for "no matter"."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> Any:
        words = {"": None, "true": True, "false": False}
        word = str(value or "").lower()
        if word not in words:
            raise forms.ValidationError("Choose true or false.")
        return words[word]


class YesNo(filters.BooleanFilter):
    """A switch."""

    field_class = TrueOrFalse

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, widget=forms.TextInput, **kwargs)


class OneOf(filters.MultipleChoiceFilter):
    """One of several values, or any of some: the parameter may be repeated."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices=choices.choices, distinct=False, **kwargs)


class Since(filters.IsoDateTimeFilter):
    """At this time or later."""

    def __init__(self, field_name: str, **kwargs: Any) -> None:
        super().__init__(field_name=field_name, lookup_expr="gte", **kwargs)


def refuse_unknown(request: Request, names: Collection[str]) -> None:
    """Raise an error for each query parameter that is none of these, naming those that exist."""
    known = ", ".join(sorted(names)) or "none"
    unknown = {
        name: [f"There is no parameter {name!r} here. Those that exist: {known}."]
        for name in request.query_params
        if name not in names
    }
    if unknown:
        raise ValidationError(unknown)


class NamedFilters(filters.DjangoFilterBackend):
    """Applies a view's filters to its list. A single row takes no parameters."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> QuerySet[Any]:
        if getattr(view, "detail", False):
            refuse_unknown(request, ())
            return queryset
        filterset_class = self.get_filterset_class(view, queryset)
        named = filterset_class.base_filters if filterset_class else ()
        refuse_unknown(request, {*named, *PAGING, "ordering"})
        filtered: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return filtered


class NamedOrdering(OrderingFilter):
    """Orders by the fields that a view names. Each is unique, or nearly so, and never null."""

    ordering_fields = ("id",)

    def remove_invalid_fields(
        self, queryset: QuerySet[Any], fields: Iterable[str], view: APIView, request: Request
    ) -> list[str]:
        known = [name for name, _ in self.get_valid_fields(queryset, view, {"request": request})]
        fields = list(fields)
        wrong = [field for field in fields if field.removeprefix("-") not in known]
        if wrong:
            raise ValidationError(
                {"ordering": [f"Order by {' or '.join(known)}, not {', '.join(wrong)}."]}
            )
        return fields

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        names = list(getattr(view, "ordering_fields", None) or self.ordering_fields)
        return [
            {
                "name": "ordering",
                "required": False,
                "in": "query",
                "description": "With a minus: from the highest down.",
                "schema": {
                    "type": "string",
                    "enum": [f"{sign}{name}" for name in names for sign in ("", "-")],
                },
            }
        ]
