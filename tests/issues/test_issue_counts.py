import pytest

from evalhub.models import User
from issues.lifecycle.moves_with_tests import movable_counts
from issues.lifecycle.readiness import counts_of
from issues.models import TestState as State
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import grant

pytestmark = pytest.mark.django_db


def test_an_issue_counts_its_own_tests_and_feedback():
    issue, other = make_issue(), make_issue()
    for state in (State.APPROVED, State.APPROVED, State.DRAFT):
        make_test(issue=issue, state=state)
    make_test(issue=issue, state=State.DEPRECATED, sealed=True)
    make_test(issue=other)
    issue.feedback.create(comment="Wrong!")

    counts, none = counts_of(issue), counts_of(make_issue())

    assert (counts.all_tests, counts.open_tests, counts.sealed_tests) == (4, 3, 1)
    assert counts.tests_in(State.APPROVED) == 2
    assert counts.feedback == 1
    assert (none.all_tests, none.feedback) == (0, 0)


def test_movable_tests_are_those_that_the_user_may_read():
    issue = make_issue()
    make_test(issue=issue, state=State.DRAFT)
    make_test(issue=issue, state=State.DRAFT, sealed=True)
    outsider = make_user("model developer")
    grant(outsider, "change_test")

    counts = counts_of(issue)

    assert movable_counts(issue, counts, by=User.objects.get(pk=outsider.pk))["review"] == 1
    assert movable_counts(issue, counts, by=make_user("annotator"))["review"] == 2
