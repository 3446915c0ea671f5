"""Filters of a list: by one of a few conditions, and by a row of another table."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter, RelatedDropdownFilter


class ChoiceFilter(DropdownFilter):
    """`choices_of` has the label and the condition of each value; `unset` is that of none."""

    choices_of: Mapping[str, tuple[str, Q]] = {}
    unset = Q()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, label) for value, (label, _) in self.choices_of.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        _, condition = self.choices_of.get(self.value() or "", ("", self.unset))
        return queryset.filter(condition)


class RelatedFilter(RelatedDropdownFilter):
    """Rows by one of another table, of which only the columns are read that name it."""

    named_by: Sequence[str] = ("name",)

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: Any
    ) -> list[tuple[Any, str]]:
        rows = field.related_model._default_manager.complex_filter(field.get_limit_choices_to())
        ordering = self.field_admin_ordering(field, request, model_admin)
        rows = rows.order_by(*ordering) if ordering else rows
        return [(row.pk, str(row)) for row in rows.only(*self.named_by)]
