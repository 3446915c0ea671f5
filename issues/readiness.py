"""What an issue or a test still lacks before it may be reviewed: everything at once, in words."""

from django.core.exceptions import ValidationError

from issues.conversation import check_messages
from issues.models import Issue, JudgeTemplate, TemplateState, Test, TestState


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


def _template_problems(test: Test, template: JudgeTemplate | None) -> list[str]:
    if template is None:
        return ["It has no judge template."]
    unpublished = template.state == TemplateState.DRAFT
    return _missing(
        (not unpublished, f"Its judge template, {template}, is a draft: publish it first."),
        (
            test.reference.strip() or not template.shows_reference,
            f"It has no reference answer, which its judge template, {template}, shows.",
        ),
    )


def _missing(*demands: tuple[object, str]) -> list[str]:
    return [sentence for met, sentence in demands if not met]
