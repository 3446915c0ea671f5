"""List filters: tags by kind, and assignees."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.access.models import User
from evalhub.admin_site.pages import row_number
from issues.models import Issue, Tag, TagKind


class TagFilter(DropdownFilter):
    """Issues with a tag of one kind, or with one of the tags below it."""

    kind: TagKind
    lookup = "pk__in"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(str(tag.pk), tag.name) for tag in Tag.objects.filter(kind=self.kind)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        tag = row_number(self.value())
        if not tag:
            return queryset
        issues = Issue.objects.filter(Q(tags=tag) | Q(tags__parent=tag))
        return queryset.filter(**{self.lookup: issues.values("pk")})


class DomainFilter(TagFilter):
    title, parameter_name, kind = "domain", "domain", TagKind.DOMAIN


class TaskTypeFilter(TagFilter):
    title, parameter_name, kind = "task type", "task_type", TagKind.TASK_TYPE


class OtherTagFilter(TagFilter):
    title, parameter_name, kind = "other tag", "tag", TagKind.OTHER


class TestDomainFilter(DomainFilter):
    """Tests of issues with a domain."""

    __test__ = False
    lookup = "issue__in"


class AssigneeFilter(DropdownFilter):
    title, parameter_name = "assignee", "assignee"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        people = User.objects.filter(issues__isnull=False).distinct().order_by("username")
        return [("me", "me"), ("nobody", "nobody"), *((str(u.pk), str(u)) for u in people)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        if chosen == "nobody":
            return queryset.filter(assignee=None)
        if chosen == "me":
            return queryset.filter(assignee=request.user.pk)
        return queryset.filter(assignee=row_number(chosen)) if row_number(chosen) else queryset
