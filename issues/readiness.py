"""What an issue or a test still lacks before it may be reviewed: everything at once, in words."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from issues.checks import CHECKS, problems_of
from issues.conversation import check_messages
from issues.models import Criterion, Issue, JudgeTemplate, TemplateState, Test, TestState


def problems_of_issue(issue: Issue) -> list[str]:
    """One sentence for each thing that is missing; empty where the issue is ready."""
    seen = issue.feedback.exists() or issue.sources.exists()
    tested = issue.tests.exclude(state=TestState.DEPRECATED).exists()
    return _missing(
        (issue.description.strip(), "It has no description."),
        (seen, "No feedback or source says where it was seen."),
        (tested, "It has no test that shows it."),
    )


def problems_of_test(test: Test) -> list[str]:
    """One sentence for each thing that is missing or wrong; empty where the test is ready."""
    criteria = list(test.criteria.all()) if test.pk else []
    if criteria:
        return [*_message_problems(test), *_rubric_problems(criteria), *_draft_problems(test)]
    return [
        *_message_problems(test),
        *_missing((test.guidelines.strip(), "It has no guidelines for its judges.")),
        *_template_problems(test, test.template),
    ]


def _message_problems(test: Test) -> list[str]:
    try:
        check_messages(test.messages)
    except ValidationError as error:
        return list(error.messages)
    return []


def _rubric_problems(criteria: Sequence[Criterion]) -> list[str]:
    """What is wrong with checks; a rubric needs neither template nor guidelines."""
    asked = [criterion for criterion in criteria if not criterion.check_name]
    runs = any(name in CHECKS and CHECKS[name].can_run for name in _check_names(criteria))
    return [
        f"Point {place} of its rubric: {problem}"
        for place, criterion in enumerate(criteria, 1)
        if criterion.check_name
        for problem in problems_of(criterion.check_name, criterion.arguments)
    ] + _missing(
        (asked or runs, "Nothing in its rubric can be scored: none of its checks can run here.")
    )


def _check_names(criteria: Sequence[Criterion]) -> list[str]:
    return [criterion.check_name for criterion in criteria if criterion.check_name]


def _draft_problems(test: Test) -> list[str]:
    template = test.template
    is_draft = template is not None and template.state == TemplateState.DRAFT
    return _missing(
        (not is_draft, f"Its judge template, {template}, is a draft: publish it first."),
    )


def _template_problems(test: Test, template: JudgeTemplate | None) -> list[str]:
    if template is None:
        return ["It has no judge template."]
    return _draft_problems(test) + _missing(
        (
            test.reference.strip() or not template.shows_reference,
            f"It has no reference answer, which its judge template, {template}, shows.",
        ),
    )


def _missing(*demands: tuple[object, str]) -> list[str]:
    return [sentence for met, sentence in demands if not met]
