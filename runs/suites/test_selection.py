"""The tests that somebody chooses, by rows that name them, and those of them that cannot run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Q

from issues.models import IssueState, Origin, Test, TestState
from issues.models.test import TestQuerySet
from issues.tags import tagged
from runs.models import Suite
from runs.suites.suite_tests import tests_in

REASONS = {
    TestState.DRAFT: "still a draft",
    TestState.IN_REVIEW: "in review, not approved yet",
    TestState.DEPRECATED: "deprecated",
    "of_deprecated_issues": "of a deprecated issue",
}


class LeftOut(NamedTuple):
    """Selected tests that cannot run, and why."""

    tests: int
    reason: str


@dataclass(frozen=True)
class TestSelection:
    """Rows by their ids; each names tests, and all of these are selected.

    A living suite names the tests that match its filter now, a run or launch those it answered.
    """

    __test__ = False

    tests: Sequence[int] = ()
    issues: Sequence[int] = ()
    tags: Sequence[int] = ()
    suites: Sequence[int] = ()
    runs: Sequence[int] = ()
    launches: Sequence[int] = ()
    without_synthetic: bool = False

    @property
    def named(self) -> TestQuerySet:
        """Every selected test, runnable or not, readable or not."""
        named = Q(pk__in=self.tests) | Q(issue__in=self.issues)
        answered = Q(results__run__in=self.runs) | Q(results__run__launch__in=self.launches)
        parts = [Test.objects.filter(named)]
        parts += [Test.objects.filter(tagged(self.tags))] if self.tags else []
        parts += [Test.objects.filter(answered)] if self.runs or self.launches else []
        parts += [tests_in(suite) for suite in Suite.objects.filter(pk__in=self.suites)]
        # Each in a query of its own, which finds a test once: JSON columns cannot be distinct.
        ids = Q()
        for part in parts:
            ids |= Q(pk__in=part.order_by().values("pk"))
        tests: TestQuerySet = Test.objects.filter(ids)
        return tests.exclude(origin=Origin.GENERATED) if self.without_synthetic else tests

    def left_out(self) -> list[LeftOut]:
        """Count the selected tests that cannot run, by reason."""
        is_deprecated = Q(issue__state=IssueState.DEPRECATED)
        conditions = {str(state): Q(state=state) & ~is_deprecated for state in TestState}
        conditions["of_deprecated_issues"] = is_deprecated
        counts = self.named.aggregate(
            **{key: Count("pk", filter=conditions[key]) for key in REASONS}
        )
        return [LeftOut(counts[key], REASONS[key]) for key in REASONS if counts[key]]
