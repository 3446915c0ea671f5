"""Problems that block the review of an issue or a test, all at once, and counts of its rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Count

from evalhub.llm.content.images import check_images
from issues.checks import CHECKS, problems_of
from issues.content.conversation import check_messages, raw_prompt_problems
from issues.models import Criterion, Issue, JudgeTemplate, TemplateState, Test, TestState


class IssueCounts(NamedTuple):
    """Numbers of an issue's rows.

    Attributes:
        tests: By state and whether they are sealed.
    """

    tests: Mapping[tuple[str, bool], int]
    feedback: int

    @property
    def all_tests(self) -> int:
        return sum(self.tests.values())

    @property
    def open_tests(self) -> int:
        return self.all_tests - self.tests_in(TestState.DEPRECATED)

    @property
    def sealed_tests(self) -> int:
        return sum(number for (_, is_sealed), number in self.tests.items() if is_sealed)

    def tests_in(self, state: str) -> int:
        return sum(number for (own, _), number in self.tests.items() if own == state)


def counts_of(issue: Issue) -> IssueCounts:
    tests = issue.tests.order_by().values_list("state", "sealed").annotate(n=Count("pk"))
    return IssueCounts({(state, sealed): n for state, sealed, n in tests}, issue.feedback.count())


def problems_of_issue(issue: Issue, counts: IssueCounts | None = None) -> list[str]:
    """List the problems of an issue; empty if it is ready.

    Args:
        counts: Of its rows, where they are known.
    """
    counts = counts or counts_of(issue)
    return _missing(
        (issue.description.strip(), "Add a description."),
        (counts.feedback or issue.sources.exists(), "Add feedback or a source that shows it."),
        (counts.open_tests, "Add a test that reproduces it."),
    )


def problems_of_test(test: Test) -> list[str]:
    """List the problems of a test; empty if it is ready."""
    criteria = list(test.criteria.all()) if test.pk else []
    if criteria:
        return [*_message_problems(test), *_rubric_problems(criteria), *_draft_problems(test)]
    return [
        *_message_problems(test),
        *_missing((test.guidelines.strip(), "Add guidelines for judges.")),
        *_template_problems(test, test.template),
    ]


def _message_problems(test: Test) -> list[str]:
    try:
        check_messages(test.messages)
        check_images(test.messages)
    except ValidationError as error:
        return list(error.messages)
    return list(raw_prompt_problems(test.messages, test.tools, test.context).values())


def _rubric_problems(criteria: Sequence[Criterion]) -> list[str]:
    """List the problems of checks; a rubric needs neither template nor guidelines."""
    asked = [criterion for criterion in criteria if not criterion.check_name]
    names = {criterion.check_name for criterion in criteria}
    runs = any(check.can_run for name, check in CHECKS.items() if name in names)
    return [
        f"Criterion {place}: {problem}"
        for place, criterion in enumerate(criteria, 1)
        if criterion.check_name
        for problem in problems_of(criterion.check_name, criterion.arguments)
    ] + _missing(
        (
            asked or runs,
            (
                "Nothing in the rubric can be scored, because none of its checks can run "
                "here. Add a criterion for judges."
            ),
        )
    )


def _draft_problems(test: Test) -> list[str]:
    template = test.template
    is_draft = template is not None and template.state == TemplateState.DRAFT
    return _missing(
        (not is_draft, f"The judge template {template} is a draft. Publish it first."),
    )


def _template_problems(test: Test, template: JudgeTemplate | None) -> list[str]:
    if template is None:
        return ["Choose a judge template, or add a rubric."]
    return _draft_problems(test) + _missing(
        (
            test.reference.strip() or not template.shows_reference,
            f"Add a reference answer: the judge template {template} shows it.",
        ),
    )


def _missing(*demands: tuple[object, str]) -> list[str]:
    return [sentence for met, sentence in demands if not met]
