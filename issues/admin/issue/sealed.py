"""Issues with sealed tests, as readers without the right see them.

A description, a comment or a source may quote the test, so these are hidden with it. The public
summary, which holds no text of a test, is shown instead. The title stays.
"""

from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    Exists,
    F,
    OuterRef,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.http import HttpRequest
from unfold.decorators import display

from evalhub.access.models import Exposure
from evalhub.access.sealing.readers import READ_SEALED
from issues.admin.inlines import CommentInline
from issues.admin.issue.inlines import SourceInline
from issues.admin.state_pages import StateAdmin
from issues.models import Issue

OPEN_FIELDS = ("title", "withheld", "generic_statement", ("severity", "assignee"), "tags")
DATES = ("author", "created_at", "updated_at")
RECORD = ("Record", {"classes": ("tab",), "fields": (DATES, ("source_id", "merged_into"))})


class SealedIssues(StateAdmin):
    """Sealing of issue pages."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Issue]:
        """Annotate `is_readable` and `open_description`, which is "" if not readable."""
        issues: QuerySet[Issue] = super().get_queryset(request)
        if request.user.has_perm(READ_SEALED):
            everything = Value(True, output_field=BooleanField())
            return issues.annotate(is_readable=everything, open_description=F("description"))
        readable = Issue.objects.readable_by(request.user).filter(pk=OuterRef("pk")).order_by()
        issues = issues.annotate(is_readable=Exists(readable))
        hidden = Value("", output_field=TextField())
        text = Case(When(is_readable=True, then=F("description")), default=hidden)
        return issues.annotate(open_description=text)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None or obj.is_readable:
            return super().get_fieldsets(request, obj)
        resolution = {"classes": ("tab",), "fields": ("resolution_labels",)}
        return ((None, {"fields": OPEN_FIELDS}), ("Resolution", resolution), RECORD)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "withheld")

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        inlines = super().get_inlines(request, obj)
        if obj is None or obj.is_readable:
            return inlines
        return [inline for inline in inlines if inline not in (SourceInline, CommentInline)]

    @display(description="description")
    def withheld(self, issue: Issue) -> str:
        return (
            "Hidden, as are comments, sources and history: some of its tests are sealed, and these "
            "may quote them. See the public summary."
        )

    def offers_history(self, request: HttpRequest, object_id: str | None) -> bool:
        return object_id is None or self.may_read_history(request, object_id)

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        issue: Any = self.get_object(request, object_id)
        return issue is None or bool(issue.is_readable)


def sealed_facts(issue: Any) -> list[str]:
    """Count its sealed tests, and how many of those are exposed."""
    sealed = issue.counts.sealed_tests
    if not sealed:
        return []
    exposed = issue.tests.filter(
        sealed=True, pk__in=Exposure.objects.order_by().values("test")
    ).count()
    return [f"{sealed} sealed test{'s' * (sealed != 1)}, {exposed} exposed"]
