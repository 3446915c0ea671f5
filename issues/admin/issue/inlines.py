"""Inlines of an issue, each in a tab of its page."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.decorators import display

from issues.admin.inlines import SealableInline
from issues.content.test_texts import first_words, judged_by_text, rubric_size
from issues.models import Feedback, Source, Test


class SourceInline(TabularInline):
    model = Source
    fields = ("kind", "value")
    extra = 0
    tab = True
    show_count = True


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
