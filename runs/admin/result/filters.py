"""Filters of the list of results."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.admin_site.lists import ChoiceFilter
from issues.models import Tag
from runs.answering.endings import ENDINGS
from runs.models import Judgment, JudgmentState, Outcome, TagSet


class OutcomeFilter(ChoiceFilter):
    title = parameter_name = "outcome"
    choices_of = {value: (str(label), Q(outcome=value)) for value, label in Outcome.choices}


class EndingFilter(ChoiceFilter):
    title = parameter_name = "ending"
    choices_of = {
        "any": ("Broken off", ~Q(ending="")),
        **{value: (label, Q(ending=value)) for value, label in ENDINGS},
    }


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
        return queryset.filter(**{f"{self.tag_set}__in": TagSet.with_name(str(self.value()))})


FAILED = Judgment.objects.filter(state=JudgmentState.FAILED, judge_run__is_active=True)


class FailedJudgmentFilter(ChoiceFilter):
    """Results with a failed judgment in the active judge run."""

    title = "failed judgments"
    parameter_name = "failed_judgments"
    choices_of = {"1": ("With a failed judgment", Q(pk__in=FAILED.values("result")))}
