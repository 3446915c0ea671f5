"""The rows of an issue, counted for its page."""

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import Count

from issues.models import Issue, TestState


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
