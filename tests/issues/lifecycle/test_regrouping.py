"""Tests and feedback move between issues, and never out of a seal."""

import pytest

from evalhub.refusals import Refused
from issues.lifecycle.regrouping import link, move_test, split
from issues.models import Issue, IssueState
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import make_feedback

pytestmark = pytest.mark.django_db


def test_rows_of_several_kinds_are_linked_each_by_itself():
    issue, ann = make_issue(), make_user("annotator")
    test, own = make_test(), make_test(issue=issue)
    row = make_feedback()
    moved = link(issue, tests=[test, own], feedback=[row], by=ann)
    assert moved.done == 2
    assert moved.refused == [f"Test {own.pk} already belongs to “{issue}”."]
    test.refresh_from_db()
    row.refresh_from_db()
    assert (test.issue, row.issue) == (issue, issue)
    record = test.history.first()
    assert record.history_user == ann
    assert "Moved from issue" in record.history_change_reason


def test_a_sealed_test_does_not_leave_its_issue():
    test = make_test(sealed=True)
    with pytest.raises(Refused, match="sealed"):
        move_test(test, make_issue(), by=make_user("maintainer"))


def test_a_deprecated_issue_takes_no_test():
    with pytest.raises(Refused, match="deprecated"):
        move_test(make_test(), make_issue(state=IssueState.DEPRECATED), by=make_user("annotator"))


def test_a_split_makes_a_draft_with_tags_and_leaves_the_rest():
    issue, ann = make_issue(tags=("Money",)), make_user("annotator")
    stays, goes = make_test(issue=issue), make_test(issue=issue)
    row = make_feedback(issue=issue, state="accepted")
    new = split(issue, [goes], [row], title="Rounds too late", by=ann)
    for one in (stays, goes, row):
        one.refresh_from_db()
    assert (stays.issue, goes.issue, row.issue) == (issue, new, new)
    assert [str(tag) for tag in new.tags.all()] == ["Money"]
    assert (new.state, new.author) == (IssueState.DRAFT, ann)


@pytest.mark.parametrize(("title", "chosen"), [("", True), ("Another", False)])
def test_an_empty_split_is_refused(title, chosen):
    test = make_test()
    with pytest.raises(Refused):
        split(test.issue, [test] * chosen, [], title=title, by=make_user("annotator"))
    assert Issue.objects.count() == 1


def test_feedback_of_a_sealed_issue_is_not_split_off():
    issue = make_test(sealed=True).issue
    row = make_feedback(issue=issue, state="accepted")
    with pytest.raises(Refused, match="seals"):
        split(issue, [], [row], title="Another", by=make_user("maintainer"))
