from typing import Any

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters

from evalhub.api.filters import Containing, Id, OneOf, Since, UpdatedSince, YesNo
from issues.content.feedback_content import TEXTS
from issues.content.test_content import SEARCHED
from issues.models import (
    FeedbackState,
    IssueState,
    Origin,
    Rating,
    Severity,
    Tag,
    TagKind,
    TemplateState,
    TestState,
)
from issues.tags import tagged


class TagFilters(filters.FilterSet):
    name = filters.CharFilter()
    kind = OneOf(TagKind)
    parent = Id(field_name="parent_id")
    q = Containing("name")


class FeedbackFilters(filters.FilterSet):
    state = OneOf(FeedbackState)
    rating = OneOf(Rating)
    model = filters.CharFilter()
    source = filters.CharFilter()
    issue = Id(field_name="issue_id")
    source_id = filters.CharFilter()
    since = Since("created_at")
    q = Containing(*TEXTS)
    updated_since = UpdatedSince("created_at", method="changed_since")

    def changed_since(self, queryset: QuerySet[Any], name: str, value: Any) -> QuerySet[Any]:
        changes = queryset.model.history.filter(history_date__gte=value)
        return queryset.filter(pk__in=changes.order_by().values("id"))


class IssueFilters(filters.FilterSet):
    state = OneOf(IssueState)
    severity = OneOf(Severity)
    tag = filters.CharFilter(field_name="tags__name")
    assignee = filters.CharFilter(field_name="assignee__username")
    source_id = filters.CharFilter()
    updated_since = UpdatedSince("updated_at")
    q = filters.CharFilter(
        method="containing", label="Text in the title, or in a description that you may read."
    )

    def containing(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        said = Q(description__icontains=value, is_readable=True)
        return queryset.filter(Q(title__icontains=value) | said)


class TestFilters(filters.FilterSet):
    __test__ = False

    state = OneOf(TestState)
    issue = Id(field_name="issue_id")
    tag = filters.CharFilter(method="with_tag", label="A tag of the test or of its issue.")
    template = Id(field_name="template_id")
    origin = OneOf(Origin)
    sealed = YesNo()
    runnable = YesNo(method="may_run")
    source_id = filters.CharFilter()
    updated_since = UpdatedSince("updated_at")
    q = Containing(*SEARCHED)

    def with_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        found = queryset.model.objects.filter(tagged(Tag.objects.filter(name=value)))
        return queryset.filter(pk__in=found.order_by().values("pk"))

    def may_run(self, queryset: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        runnable = queryset.model.objects.runnable().order_by().values("pk")
        return queryset.filter(pk__in=runnable) if value else queryset.exclude(pk__in=runnable)


class JudgeTemplateFilters(filters.FilterSet):
    family = filters.CharFilter()
    state = OneOf(TemplateState)
    q = Containing("title", "family")


class RevisionFilters(filters.FilterSet):
    test = Id(field_name="test_id")
    digest = filters.CharFilter()
    asked_digest = filters.CharFilter()
