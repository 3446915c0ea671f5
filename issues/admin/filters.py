"""List filters: of issues by tags and assignees, and of tests by the conditions of a filter."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.access.models import User
from evalhub.admin_site.choice_filter import RelatedFilter
from evalhub.admin_site.pages import row_number
from issues.models import Issue, Tag, TagKind
from issues.test_filter import CONDITIONS, ME, Condition


class TagFilter(DropdownFilter):
    """Issues with a tag of one kind, or with one of the tags below it."""

    kind: TagKind

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        kept = vars(request)
        if "tags" not in kept:  # once for the filters of all kinds
            kept["tags"] = list(Tag.objects.values_list("kind", "pk", "name"))
        return [(str(pk), name) for kind, pk, name in kept["tags"] if kind == self.kind]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        tag = row_number(self.value())
        if not tag:
            return queryset
        tags = Tag.objects.filter(Q(pk=tag) | Q(parent=tag)).values("pk")
        found = Issue.objects.filter(tags__in=tags).order_by().values("pk")
        return queryset.filter(pk__in=found)


class DomainFilter(TagFilter):
    title, parameter_name, kind = "domain", "domain", TagKind.DOMAIN


class TaskTypeFilter(TagFilter):
    title, parameter_name, kind = "task type", "task_type", TagKind.TASK_TYPE


class OtherTagFilter(TagFilter):
    title, parameter_name, kind = "other tag", "tag", TagKind.OTHER


def _named(people: QuerySet[User]) -> list[tuple[str, str]]:
    return [(str(pk), name) for pk, name in people.values_list("pk", "username")]


class AuthorFilter(DropdownFilter):
    title, parameter_name = "author", "author"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        authors = model_admin.model._default_manager.filter(author__isnull=False).order_by()
        people = User.objects.filter(pk__in=authors.values("author")).order_by("username")
        return [("me", "me"), *_named(people)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        author = request.user.pk if chosen == "me" else row_number(chosen)
        return queryset.filter(author=author) if author else queryset


class AssigneeFilter(DropdownFilter):
    title, parameter_name = "assignee", "assignee"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        people = User.objects.filter(issues__isnull=False).distinct().order_by("username")
        return [("me", "me"), ("nobody", "nobody"), *_named(people)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        if chosen == "nobody":
            return queryset.filter(assignee=None)
        assignee = request.user.pk if chosen == "me" else row_number(chosen)
        return queryset.filter(assignee=assignee) if assignee else queryset


MY_DRAFTS = ("My drafts", {"author": "me", "state__exact": "draft"})
ASSIGNED_TO_ME = ("Assigned to me", {"assignee": "me"})


class TemplateFilter(RelatedFilter):
    named_by = ("title", "version")


class ConditionFilter(DropdownFilter):
    """A condition of `issues.test_filter`; one that is `linked_only` is shown if it is chosen."""

    condition: Condition
    linked_only = False

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        if self.linked_only and self.parameter_name not in request.GET:
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
    linked_only = condition.name == "library"
    return type("ConditionFilter", (ConditionFilter,), {**shown, "linked_only": linked_only})


TEST_FILTERS = tuple(filter_by(condition) for condition in CONDITIONS)
