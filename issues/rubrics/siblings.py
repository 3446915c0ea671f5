"""Copy the judge settings of a sibling test of the same issue."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.content.test_content import PASSED_ON
from issues.lifecycle.states import review_again
from issues.models import Issue, Test, TestState
from issues.models.test import TestQuerySet
from issues.rubrics import editing
from issues.rubrics.criterion_content import ORIGIN


def siblings_of(
    issue: Issue,
    user: User | AnonymousUser,
    *,
    beside: Test | None = None,
    only: Sequence[str] = (),
) -> list[Test]:
    """Return the issue's tests that this user may read; approved first, then newest.

    Args:
        beside: The test that takes from them, not saved perhaps; only a sealed one has sealed
            siblings.
        only: Fields besides the state that are read; none reads all, with template and issue.
    """
    tests = open_tests_of(issue, user).exclude(pk=beside.pk if beside else None)
    tests = tests if beside and beside.sealed else tests.filter(sealed=False)
    rows = tests.only("state", *only) if only else tests.select_related("template", "issue")
    return sorted(rows, key=lambda test: (test.state != TestState.APPROVED, -test.pk))


def open_tests_of(issue: Issue, user: User | AnonymousUser) -> TestQuerySet:
    """Return what may be a sibling: the issue's tests that this user may read, not deprecated."""
    tests: TestQuerySet = Test.objects.readable_by(user).filter(issue=issue)
    return tests.exclude(state=TestState.DEPRECATED)


def judge_settings_of(sibling: Test) -> dict[str, Any]:
    """Return the fields that a new test takes from its sibling."""
    return {name: getattr(sibling, name) for name in PASSED_ON}


def rubric_of(sibling: Test) -> list[dict[str, Any]]:
    """Return the criteria that a new test takes, as fields of the model."""
    rows = sibling.criteria.all()
    names = (*editing.COPIED, *ORIGIN, "order")
    return [{name: getattr(row, name) for name in names} for row in rows]


@transaction.atomic
def copy_judge_settings(sibling: Test, test: Test, *, by: User) -> None:
    """Copy template, guidelines, pass threshold and rubric of a sibling.

    Raises:
        Refused: The sibling is of another issue, it is sealed and the test is not, or the test has
            a rubric of its own.
    """
    if sibling.issue_id != test.issue_id:
        raise Refused([f"{sibling} belongs to another issue."])
    if sibling.sealed and not test.sealed:
        raise Refused([f"{sibling} is sealed. Its guidelines cannot be copied to an open test."])
    if test.criteria.exists():
        raise Refused([f"{test} has a rubric of its own. Delete its criteria first."])
    for name, value in judge_settings_of(sibling).items():
        setattr(test, name, value)
    review_again(test, by)
    save_signed(test, by, f"Judge settings copied from test {sibling.pk}")
    editing.add_rows(test, rubric_of(sibling), by=by, reason=f"Copied from test {sibling.pk}")
