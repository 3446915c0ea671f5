"""Filtering, ordering and pages, by declared parameters; any other parameter is an error.

A lookup such as `user__password__startswith` never reaches the database: no filter's name has two
underscores.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Any

from django import forms
from django.core.exceptions import ValidationError as ModelError
from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from evalhub.limits import MAX_API_PAGE_SIZE

PAGING = ("cursor", "page_size")
HIGHEST_ID = 2**63 - 1


@extend_schema_field({"type": "integer", "minimum": 1})
class Id(filters.NumberFilter):
    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, min_value=1, max_value=HIGHEST_ID, **kwargs)

    def get_max_validator(self) -> None:
        return None


class TrueOrFalse(forms.NullBooleanField):
    """Boolean field that refuses other words, unlike Django's."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> Any:
        words = {"": None, "true": True, "false": False}
        word = str(value or "").lower()
        if word not in words:
            raise forms.ValidationError("Choose true or false.")
        return words[word]


class YesNo(filters.BooleanFilter):
    field_class = TrueOrFalse

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, widget=forms.TextInput, **kwargs)


class OneOf(filters.MultipleChoiceFilter):
    """Filter by a choice, or by several with a repeated parameter."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices=choices.choices, distinct=False, **kwargs)


class MomentField(IsoDateTimeField):
    """A time in UTC: PostgreSQL takes no offset of 16 hours or more, which ISO 8601 allows."""

    def to_python(self, value: Any) -> datetime | None:
        moment: datetime | None = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError as error:
            raise forms.ValidationError(f"{value} is before year 1 or after 9999.") from error


class Moment(filters.IsoDateTimeFilter):
    field_class = MomentField


class Since(Moment):
    def __init__(self, field_name: str, **kwargs: Any) -> None:
        super().__init__(field_name=field_name, lookup_expr="gte", **kwargs)


class UpdatedSince(Since):
    """Filter by the time of a row's last change; answers carry a `Watermark` to go on from."""

    def __init__(self, field_name: str, **kwargs: Any) -> None:
        kwargs.setdefault("label", "At least what changed since: send the last Watermark.")
        super().__init__(field_name, **kwargs)


class Containing(filters.CharFilter):
    """Filter by a text in any of the fields, ignoring case."""

    def __init__(self, *fields: str) -> None:
        super().__init__(label=f"Text in {' or '.join(fields)}.")
        self.fields = fields

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        found = (Q(**{f"{field}__icontains": value}) for field in self.fields)
        return qs.filter(reduce(or_, found)) if value else qs


def refuse_unknown(request: Request, names: Collection[str]) -> None:
    """Raise an error that names each unknown query parameter and the known ones."""
    known = ", ".join(sorted(names)) or "none"
    unknown = {
        name: [f"Unknown parameter {name!r}. Available: {known}."]
        for name in request.query_params
        if name not in names
    }
    if unknown:
        raise ValidationError(unknown)


class NamedFilters(filters.DjangoFilterBackend):
    """Backend that applies a view's filters to lists. A single row takes no parameters."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> QuerySet[Any]:
        if getattr(view, "detail", False):
            refuse_unknown(request, ())
            return queryset
        filterset_class = self.get_filterset_class(view, queryset)
        named = filterset_class.base_filters if filterset_class else ()
        backends = getattr(view, "filter_backends", ())
        ordering = ["ordering"] if NamedOrdering in backends else []
        refuse_unknown(request, {*named, *PAGING, *ordering})
        filtered: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return filtered


class NamedOrdering(OrderingFilter):
    """Backend that orders by a view's fields, all never null and nearly unique."""

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
                "description": "Field to order by; prefix with a minus for descending order.",
                "schema": {
                    "type": "string",
                    "enum": [f"{sign}{name}" for name in names for sign in ("", "-")],
                },
            }
        ]


class Pagination(CursorPagination):
    ordering: str | tuple[str, ...] = "-id"
    page_size_query_param = "page_size"
    max_page_size = MAX_API_PAGE_SIZE

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get("page_size")
        if text is None:
            return self.page_size
        if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= self.max_page_size):
            raise ValidationError(
                {"page_size": [f"Choose a number from 1 to {self.max_page_size}, not {text!r}."]}
            )
        return int(text)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in found:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return found

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view=view)
        except (NotFound, ModelError, ValueError, TypeError) as error:
            # A forged cursor can name a position that its field cannot have.
            problem = "This is no cursor: follow the address in “next” of the page before."
            raise ValidationError({self.cursor_query_param: [problem]}) from error
