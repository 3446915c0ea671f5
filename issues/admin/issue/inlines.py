"""Inlines of an issue, each in a tab of its page."""

from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.timezone import localtime
from unfold.admin import StackedInline, TabularInline
from unfold.decorators import display

from issues.admin.inlines import SealableInline
from issues.admin.text_areas import TextAreas
from issues.models import Comment, Feedback, Source, Test
from issues.test_texts import first_words, judged_by_text, rubric_size


class SourceInline(TabularInline):
    model = Source
    extra = 0
    tab = True
    show_count = True


class CommentInline(TextAreas, StackedInline):
    """Append-only comments."""

    model = Comment
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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Comment]:
        return super().get_queryset(request).select_related("author")  # type: ignore[no-any-return]

    @display(description="author and time")
    def author_and_time(self, comment: Comment) -> str:
        if comment.pk is None:
            return "you, when you save"
        who = comment.author or comment.author_name or "unknown"
        return f"{who}, {localtime(comment.created_at):%Y-%m-%d %H:%M}"


class FeedbackInline(SealableInline):
    """The issue's feedback, sealed with its tests."""

    model = Feedback
    fields = readonly_fields = ("feedback", "rating", "state_label", "model", "source")

    @display(description="feedback")
    def feedback(self, feedback: Any) -> str:
        return self.link(feedback, feedback)


class TestInline(SealableInline):
    """The issue's tests; readers without the right see only that a sealed test exists."""

    __test__ = False
    model = Test
    fields = readonly_fields = ("test", "state_label", "judged_by", "weight")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Test]:
        tests: QuerySet[Test] = super().get_queryset(request).annotate(points=rubric_size())
        return tests.select_related("template", "issue")

    @display(description="judged by")
    def judged_by(self, test: Any) -> str:
        return judged_by_text(test.points, test.template)

    @display(description="test")
    def test(self, test: Any) -> str:
        return self.link(test, first_words(test.messages))
