"""List filters of issues and tests, made from the conditions of a filter."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.admin_site.lists import RelatedFilter
from issues.models import Issue
from issues.test_filter import (
    CONDITIONS,
    ME,
    Condition,
    assignee_condition,
    author_condition,
    tag_conditions,
)

MY_DRAFTS = ("My drafts", {"author": "me", "state__exact": "draft"})
ASSIGNED_TO_ME = ("Assigned to me", {"assignee": "me"})


class TemplateFilter(RelatedFilter):
    named_by = ("title", "version")


class ConditionFilter(DropdownFilter):
    """A condition of `issues.test_filter`; one that is `is_linked_only` is shown if it is chosen.

    An unknown value finds nothing, and the list says so above its rows, as in every filter.
    """

    condition: Condition

    def has_output(self) -> bool:
        return bool(self.value()) or super().has_output()

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        if self.condition.is_linked_only and self.parameter_name not in request.GET:
            return []
        me = [(ME, ME)] if self.condition.is_person else []
        return [*me, *((str(value), label) for value, label in self.condition.choices())]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if not (value := self.value()):
            return queryset
        if self.condition.is_person and value == ME:
            value = str(request.user.pk)
        elif value not in dict(self.lookup_choices):
            return queryset.none()
        return self.condition.narrow(queryset, value)


def filter_by(condition: Condition) -> type[ConditionFilter]:
    shown = {"title": condition.title, "parameter_name": condition.name, "condition": condition}
    return type("ConditionFilter", (ConditionFilter,), shown)


TEST_FILTERS = tuple(filter_by(condition) for condition in CONDITIONS)
ISSUE_TAG_FILTERS = tuple(
    map(filter_by, tag_conditions(lambda tags: Issue.objects.filter(tags__in=tags)))
)
ISSUE_PEOPLE_FILTERS = tuple(
    map(filter_by, (assignee_condition("assignee", "assignee"), author_condition(Issue)))
)
