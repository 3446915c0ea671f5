"""Filters of the list of results."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter, RadioFilter

from issues.models import Tag
from runs.models import Judgment, JudgmentState, Outcome, Result, TagSet


class OutcomeFilter(DropdownFilter):
    """By outcome."""

    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in Outcome.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Result]) -> QuerySet[Result]:
        wanted = self.value() in Outcome.values
        return queryset.filter(outcome=self.value()) if wanted else queryset


class TagFilter(DropdownFilter):
    """By a tag that the issue had at launch."""

    title = "tag"
    parameter_name = "tag"
    tag_set = "tag_set"
    """Path from the row to its tag set."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = Tag.objects.order_by("name").values_list("name", flat=True)
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        sets = TagSet.objects.values_list("pk", "names")
        wanted = [pk for pk, names in sets if self.value() in names]
        return queryset.filter(**{f"{self.tag_set}__in": wanted})


class FailedJudgmentFilter(RadioFilter):
    """Results with a failed judgment in the active judge run."""

    title = "failed judgments"
    parameter_name = "failed_judgments"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "With a failed judgment")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Result]) -> QuerySet[Result]:
        if self.value() != "1":
            return queryset
        failed = Judgment.objects.filter(state=JudgmentState.FAILED, judge_run__is_active=True)
        return queryset.filter(pk__in=failed.values("result"))
