"""A test with its rubric, stored or still in a form, as models and judges would be given it."""

from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser

from evalhub.models import User
from issues.content.revisions import content_of
from issues.judge_templates.preview import NOBODY, sample_answer
from issues.models import Criterion, JudgeTemplate, Test


class Draft(NamedTuple):
    """A test with its rubric, saved or not; criteria are keyed by place, from 1.

    `test_id` is None if unsaved. `reader` is the user who reads the prompt. `input_problems` say
    why no model can be asked.
    """

    content: dict[str, Any]
    points: list[Criterion]
    template: JudgeTemplate | None
    own_threshold: float | None
    answer: str
    problems: list[str]
    test_id: int | None = None
    reader: User | AnonymousUser = NOBODY
    flagged_answer: str = ""
    input_problems: tuple[str, ...] = ()


def draft_of_test(test: Test) -> Draft:
    """Return the draft of a stored test."""
    points = list(test.criteria.all())
    content = content_of(test)
    for place, (point, criterion) in enumerate(zip(points, content["criteria"], strict=True), 1):
        point.key = criterion["key"] = str(place)
    judged = (content, points, test.template, test.pass_threshold)
    flagged = test.flagged_answer
    return Draft(*judged, sample_answer(test), [], test_id=test.pk, flagged_answer=flagged)
