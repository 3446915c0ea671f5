"""Inlines of an issue, each in a tab of its page."""

from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.timezone import localtime
from unfold.admin import StackedInline, TabularInline
from unfold.decorators import display

from issues.admin.badges import badge
from issues.admin.test.form import text_area
from issues.admin.test.short_text import first_words, judged_by_text, rubric_size
from issues.models import Comment, Feedback, Source, Test


class SourceInline(TabularInline):
    model = Source
    extra = 0
    tab = True
    show_count = True


class CommentInline(StackedInline):
    """Append-only comments."""

    model = Comment
    fields = ("said", "text")
    readonly_fields = ("said",)
    extra = 1
    max_num = 10_000
    can_delete = False
    tab = True
    show_count = True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "text":
            kwargs["widget"] = text_area(3)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Comment]:
        return super().get_queryset(request).select_related("author")  # type: ignore[no-any-return]

    @display(description="author and time")
    def said(self, comment: Comment) -> str:
        if comment.pk is None:
            return "you, when you save"
        who = comment.author or comment.author_name or "unknown"
        return f"{who}, {localtime(comment.created_at):%Y-%m-%d %H:%M}"


class ReadOnlyInline(TabularInline):
    """Read-only list of rows that have pages of their own."""

    extra = 0
    tab = True
    can_delete = False
    show_count = True
    hide_title = True
    per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class FeedbackInline(ReadOnlyInline):
    """The issue's feedback, sealed with its tests."""

    model = Feedback
    fields = readonly_fields = ("said", "rating", "state_label", "model", "source")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        readable = Feedback.objects.readable_by(request.user).filter(pk=OuterRef("pk"))
        feedback: QuerySet[Feedback] = super().get_queryset(request)
        return feedback.annotate(readable=Exists(readable))

    @display(description="feedback")
    def said(self, feedback: Any) -> str:
        if not feedback.readable:
            return f"feedback {feedback.pk} (sealed)"
        url = reverse("admin:issues_feedback_change", args=[feedback.pk])
        return format_html('<a class="eh-link" href="{}">{}</a>', url, feedback)

    @display(description="state")
    def state_label(self, feedback: Feedback) -> str:
        return badge(feedback.state, feedback.get_state_display())


class TestInline(ReadOnlyInline):
    """The issue's tests; readers without the right see only that a sealed test exists."""

    __test__ = False
    model = Test
    fields = readonly_fields = ("words", "state_label", "judged_by", "weight")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Test]:
        readable = Test.objects.readable_by(request.user).filter(pk=OuterRef("pk"))
        tests: QuerySet[Test] = super().get_queryset(request).select_related("template", "issue")
        return tests.annotate(readable=Exists(readable), points=rubric_size())

    @display(description="judged by")
    def judged_by(self, test: Any) -> str:
        return judged_by_text(test.points, test.template)

    @display(description="test")
    def words(self, test: Any) -> str:
        if not test.readable:
            return f"test {test.pk} (sealed)"
        url = reverse("admin:issues_test_change", args=[test.pk])
        return format_html('<a class="eh-link" href="{}">{}</a>', url, first_words(test.messages))

    @display(description="state")
    def state_label(self, test: Test) -> str:
        return badge(test.state, test.get_state_display())
