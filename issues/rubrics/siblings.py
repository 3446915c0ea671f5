"""Copy the judge settings of a sibling test of the same issue."""

from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed
from issues.models import Issue, Test, TestState
from issues.models.test import TestQuerySet
from issues.rubrics import editing
from issues.rubrics.criterion_content import ORIGIN
from issues.states import Refused, review_again
from issues.test_content import PASSED_ON


class SiblingText(NamedTuple):
    """Number, state and text of a sibling."""

    pk: int
    state: str
    messages: Any
    sealed: bool


def siblings_of(issue: Issue, user: User | AnonymousUser) -> list[Test]:
    """Return the issue's tests that this user may read; approved first, then newest."""
    return sorted(open_tests_of(issue, user).select_related("template", "issue"), key=_place)


def texts_of_siblings(issue: Issue, user: User | AnonymousUser) -> list[SiblingText]:
    """Return the same without the rows."""
    rows = open_tests_of(issue, user).order_by().values_list(*SiblingText._fields)
    return sorted((SiblingText(*row) for row in rows), key=_place)


def _place(test: Test | SiblingText) -> tuple[bool, int]:
    return test.state != TestState.APPROVED, -test.pk


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
