"""A filter of a list by one of a few conditions."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter


class ChoiceFilter(DropdownFilter):
    """`choices_of` has the label and the condition of each value; `unset` is that of none."""

    choices_of: Mapping[str, tuple[str, Q]] = {}
    unset = Q()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, label) for value, (label, _) in self.choices_of.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        _, condition = self.choices_of.get(self.value() or "", ("", self.unset))
        return queryset.filter(condition)
