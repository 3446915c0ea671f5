"""Short texts of a test, for lists."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Subquery

from evalhub.display.formatting import clip
from evalhub.llm.content.content_parts import content_text
from issues.limits import LISTED_TESTS
from issues.models import Criterion, Test

LENGTH = 90


def first_words(messages: Any) -> str:
    """Return the beginning of the first user's message, else of the first one."""
    turns = [turn for turn in messages if isinstance(turn, dict)] if messages else []
    said = [turn for turn in turns if turn.get("role") == "user"] or turns
    text = content_text(said[0].get("content")) if said else ""
    return clip(" ".join(text.split()), LENGTH) or "(no message)"


def named_tests(tests: Sequence[Test]) -> list[str]:
    """Name the tests that a page asks about, and count those that it does not name."""
    rows = [f"{first_words(test.messages)} (of “{test.issue}”)" for test in tests[:LISTED_TESTS]]
    return [*rows, f"and {len(tests) - LISTED_TESTS:,} more"] if len(tests) > LISTED_TESTS else rows


def rubric_size() -> Subquery:
    """Annotation of the number of criteria; null without a rubric."""
    points = Criterion.objects.filter(test=OuterRef("pk")).order_by().values("test")
    counted = points.annotate(count=Count("pk")).values("count")
    return Subquery(counted, output_field=IntegerField())


def judged_by_text(points: int | None, template: object) -> str:
    """Return “rubric of n” or the name of the template."""
    if points:
        return f"rubric of {points}"
    return str(template or "—")
