"""List filters: tags by kind, and assignees."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.access.models import User
from evalhub.admin_site.choice_filter import RelatedFilter
from evalhub.admin_site.pages import row_number
from issues.models import Criterion, Issue, LibraryCriterion, Tag, TagKind, Test
from issues.tags import tagged


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
        found = self.carriers(tags).order_by().values("pk")
        return queryset.filter(pk__in=found)

    def carriers(self, tags: Any) -> QuerySet[Any]:
        return Issue.objects.filter(tags__in=tags)


class DomainFilter(TagFilter):
    title, parameter_name, kind = "domain", "domain", TagKind.DOMAIN


class TaskTypeFilter(TagFilter):
    title, parameter_name, kind = "task type", "task_type", TagKind.TASK_TYPE


class OtherTagFilter(TagFilter):
    title, parameter_name, kind = "other tag", "tag", TagKind.OTHER


class OfTests:
    """Mixin of tag filters for tests: their own tags, and those of their issues."""

    def carriers(self, tags: Any) -> QuerySet[Any]:
        return Test.objects.filter(tagged(tags))


class TestDomainFilter(OfTests, DomainFilter):
    __test__ = False


class TestTaskTypeFilter(OfTests, TaskTypeFilter):
    __test__ = False


class TestOtherTagFilter(OfTests, OtherTagFilter):
    __test__ = False


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
    title, parameter_name, path = "assignee", "assignee", "assignee"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        people = User.objects.filter(issues__isnull=False).distinct().order_by("username")
        return [("me", "me"), ("nobody", "nobody"), *_named(people)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value() or ""
        if chosen == "nobody":
            return queryset.filter(**{self.path: None})
        assignee = request.user.pk if chosen == "me" else row_number(chosen)
        return queryset.filter(**{self.path: assignee}) if assignee else queryset


class TestAssigneeFilter(AssigneeFilter):
    """Tests by the assignee of their issue."""

    __test__ = False
    title, path = "issue assignee", "issue__assignee"


MY_DRAFTS = ("My drafts", {"author": "me", "state__exact": "draft"})
ASSIGNED_TO_ME = ("Assigned to me", {"assignee": "me"})


class TemplateFilter(RelatedFilter):
    named_by = ("title", "version")


class LibraryFilter(DropdownFilter):
    """Tests with a copy of one library criterion; shown only if a page links to it."""

    title, parameter_name = "library criterion", "library"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        wanted = request.GET.get(self.parameter_name, "")[:80]
        return list(LibraryCriterion.objects.filter(key=wanted).values_list("key", "name"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (key := self.value()):
            return queryset
        copies = Criterion.objects.filter(library_key=key).order_by().values("test")
        return queryset.filter(pk__in=copies)
