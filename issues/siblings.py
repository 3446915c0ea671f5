"""Taking over how a sibling test of the same issue is judged, to be tailored afterwards."""

from typing import Any

from django.contrib.auth.models import AnonymousUser

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Issue, Test, TestState
from issues.states import Refused, review_again

COPIED = ("template", "guidelines", "pass_threshold")


def siblings_of(issue: Issue, user: User | AnonymousUser) -> list[Test]:
    """Tests of the issue whose text this person may read; approved ones first, then the newest."""
    tests = Test.objects.readable_by(user).filter(issue=issue).select_related("template", "issue")
    kept = tests.exclude(state=TestState.DEPRECATED)
    return sorted(kept, key=lambda test: (test.state != TestState.APPROVED, -test.pk))


def judging_of(sibling: Test) -> dict[str, Any]:
    """What a new test takes over from its sibling."""
    return {name: getattr(sibling, name) for name in COPIED}


def copy_judging(sibling: Test, test: Test, *, by: User) -> None:
    """Give a test the template, guidelines and pass threshold of its sibling.

    Raises:
        Refused: The sibling is of another issue, or its text is sealed and the test's is not.
    """
    if sibling.issue_id != test.issue_id:
        raise Refused([f"{sibling} belongs to another issue."])
    if sibling.sealed and not test.sealed:
        raise Refused([f"{sibling} is sealed: its guidelines cannot go into an open test."])
    for name, value in judging_of(sibling).items():
        setattr(test, name, value)
    review_again(test, by)
    sign(test, by, f"Judging copied from test {sibling.pk}")
    test.save()
