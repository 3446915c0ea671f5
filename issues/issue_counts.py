"""The rows of an issue, counted for its page without making them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from evalhub.fixed_query import fixed_query
from issues.models import Feedback, Issue, Test, TestState


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
        return sum(number for (found, _), number in self.tests.items() if found == state)


def counts_of(issue: Issue) -> IssueCounts:
    tests = {(state, bool(sealed)): number for state, sealed, number in _tests(issue.pk)}
    return IssueCounts(tests, sum(number for (number,) in _feedback(issue.pk)))


@fixed_query
def _tests(issue: int) -> QuerySet[Any, Any]:
    tests: QuerySet[Any, Any] = Test.objects.filter(issue=issue).order_by()
    counted: QuerySet[Any, Any] = tests.values_list("state", "sealed").annotate(n=Count("pk"))
    return counted


@fixed_query
def _feedback(issue: int) -> QuerySet[Any, Any]:
    feedback = Feedback.objects.filter(issue=issue).order_by().values("issue")
    return feedback.annotate(number=Count("pk")).values_list("number")
