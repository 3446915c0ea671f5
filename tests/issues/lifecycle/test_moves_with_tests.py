"""Review and approval take an issue's tests along; undo brings all back."""

import pytest

from evalhub.refusals import Refused
from issues.lifecycle.moves_with_tests import move_tests_of, move_with_tests, undo_with_tests
from issues.models import IssueState, Source, TestState
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db


def ready_issue(**fields):
    issue = make_issue(state=IssueState.DRAFT, description="It is wrong.", **fields)
    Source.objects.create(issue=issue, value="A ticket")
    return issue


def states_of(*tests):
    for test in tests:
        test.refresh_from_db()
    return [test.state for test in tests]


def test_tests_go_along_and_the_rest_is_told():
    issue, ann = ready_issue(), make_user("annotator")
    good = make_test(issue=issue, state=TestState.DRAFT)
    bare = make_test(issue=issue, state=TestState.DRAFT, guidelines="")
    gone = make_test(issue=issue, state=TestState.DEPRECATED)
    moved = move_with_tests(issue, "review", by=ann)
    assert moved.done == 1
    (why,) = moved.refused
    assert f"test {bare.pk}" in why
    assert "guidelines" in why
    assert states_of(good, bare, gone) == [
        TestState.IN_REVIEW,
        TestState.DRAFT,
        TestState.DEPRECATED,
    ]


def test_an_issue_that_is_refused_moves_nothing():
    issue = make_issue(state=IssueState.DRAFT)
    test = make_test(issue=issue, state=TestState.DRAFT)
    with pytest.raises(Refused):
        move_with_tests(issue, "review", by=make_user("annotator"))
    assert states_of(test) == [TestState.DRAFT]


def test_undo_brings_back_what_went_along_and_nothing_else():
    issue, boss = ready_issue(), make_user("maintainer")
    tests = [make_test(issue=issue, state=TestState.DRAFT) for _ in range(2)]
    before = make_test(issue=issue)
    move_with_tests(issue, "approve", by=boss)
    assert states_of(*tests, before) == [TestState.APPROVED] * 3
    assert undo_with_tests(issue, by=boss) == ("Approve", 2)
    assert states_of(*tests, before) == [TestState.DRAFT, TestState.DRAFT, TestState.APPROVED]
    issue.refresh_from_db()
    assert issue.state == IssueState.DRAFT


def test_sealed_tests_stay_without_the_right_and_are_counted():
    issue, ann = ready_issue(), make_user()
    from tests.issues.pages import grant

    for right in ("change_issue", "change_test"):
        grant(ann, right)
    sealed = make_test(issue=issue, state=TestState.DRAFT, sealed=True)
    moved = move_with_tests(issue, "review", by=ann)
    assert moved.done == 0
    assert moved.refused == ["1 sealed test not moved: you may not read sealed tests."]
    assert states_of(sealed) == [TestState.DRAFT]


def test_later_tests_follow_without_the_issue():
    issue, boss = make_issue(), make_user("maintainer")
    late = make_test(issue=issue, state=TestState.DRAFT)
    assert move_tests_of(issue, "approve", by=boss).done == 1
    assert states_of(late) == [TestState.APPROVED]
