"""Base classes of inlines."""

from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from unfold.admin import StackedInline
from unfold.decorators import display

from evalhub.admin_site.json_field import BoundedJSON
from evalhub.admin_site.later_tabs import LaterInline
from evalhub.display.html import link
from issues.admin.badges import badge
from issues.admin.text_areas import TextAreas
from issues.models import Comment, CommentFields, TestComment


class PartInline(BoundedJSON, StackedInline):
    """Parts of a row: users with the right to read, add or change it have the same for these."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.has_perm(self._right("view")))

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.has_perm(self._right("change" if obj else "add")))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_add_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_add_permission(request, obj)

    def _right(self, verb: str) -> str:
        return f"issues.{verb}_{self.parent_model._meta.model_name}"


class SealableInline(LaterInline):
    """Rows that link to their pages, except sealed ones that the user may not read."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        readable = self.model.objects.readable_by(request.user).filter(pk=OuterRef("pk"))
        rows: QuerySet[Any] = super().get_queryset(request).annotate(readable=Exists(readable))
        return rows

    def link(self, row: Any, text: object) -> str:
        if not row.readable:
            return f"{row._meta.verbose_name} {row.pk} (sealed)"
        return link_to(row, text)

    @display(description="state")
    def state_label(self, row: Any) -> str:
        return badge(row.state, row.get_state_display())


class CommentInline(TextAreas, StackedInline):
    """Append-only comments; `StateAdmin` writes who made them."""

    model: type[CommentFields] = Comment
    fields = ("author_and_time", "text")
    readonly_fields = ("author_and_time",)
    text_rows = {"text": 3}
    extra = 1
    max_num = 10_000
    can_delete = False
    tab = True
    show_count = True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        comments: QuerySet[Any] = super().get_queryset(request).select_related("author")
        columns = (column.name for column in self.model._meta.concrete_fields)
        return comments.only(*columns, "author__username")

    @display(description="author and time")
    def author_and_time(self, comment: CommentFields) -> str:
        if comment.pk is None:
            return "you, when you save"
        who = comment.author or comment.author_name or "unknown"
        return f"{who}, {localtime(comment.created_at):%Y-%m-%d %H:%M}"


class TestCommentInline(CommentInline):
    __test__ = False
    model = TestComment


def link_to(row: Any, text: object = None) -> SafeString:
    return link(row.get_absolute_url(), row if text is None else text)
