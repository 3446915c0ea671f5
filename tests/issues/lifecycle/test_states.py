"""Issues and tests change their state by moves, which refuse in words what is impossible."""

import pytest

from evalhub.refusals import Refused
from issues.lifecycle import states
from issues.lifecycle.states import move, move_all, open_moves, resolve, review_again, undo
from issues.models import IssueState, ResolutionLabel, TestState
from tests.factories import make_issue, make_test, make_user
from tests.issues.lifecycle.test_readiness import make_reviewable_issue

pytestmark = pytest.mark.django_db


def names(moves):
    return [found.name for found in moves]


def test_a_ready_issue_goes_the_whole_way_and_back():
    issue, user = make_reviewable_issue(), make_user("maintainer")

    seen = []
    for name in ("review", "approve"):
        move(issue, name, by=user)
        seen.append(issue.state)
    resolve(issue, labels=[], note="Fixed in 1.2", by=user)
    move(issue, "reopen", by=user)
    seen.append(issue.state)
    move(issue, "deprecate", by=user)
    move(issue, "draft", by=user)

    assert seen == ["in_review", "approved", "approved"]
    issue.refresh_from_db()
    assert (issue.state, issue.resolution_note) == (IssueState.DRAFT, "Fixed in 1.2")


def test_an_unready_issue_is_refused_with_everything_that_it_lacks():
    issue = make_issue(title="Empty", state="draft")

    with pytest.raises(Refused) as refusal:
        move(issue, "review", by=None)

    assert refusal.value.problems == [
        "Empty cannot be sent to review yet.",
        "Add a description.",
        "Add feedback or a source that shows it.",
        "Add a test that reproduces it.",
    ]
    issue.refresh_from_db()
    assert issue.state == IssueState.DRAFT


def test_an_impossible_or_unknown_move_is_refused_in_words():
    issue = make_issue(title="Old", state="deprecated")

    with pytest.raises(Refused, match=r"“Resolve” is not possible: Old is deprecated\."):
        move(issue, "resolve", by=None)
    with pytest.raises(Refused, match="“fly” is not possible"):
        move(make_issue(), "fly", by=None)


def test_an_incomplete_imported_issue_keeps_its_state_and_may_be_given_up():
    issue = make_issue(state="approved")

    with pytest.raises(Refused):
        resolve(issue, labels=[], note="Gone", by=None)
    move(issue, "deprecate", by=None)

    assert issue.state == IssueState.DEPRECATED


def test_resolving_asks_how_and_keeps_the_labels():
    issue = make_reviewable_issue()
    move(issue, "approve", by=None)
    label = ResolutionLabel.objects.create(name="fixed by training")

    with pytest.raises(Refused, match="Choose a label or write a note"):
        resolve(issue, labels=[], note=" ", by=None)
    resolve(issue, labels=[label], note="", by=None)

    assert list(issue.resolution_labels.all()) == [label]


def test_the_move_of_a_stale_row_goes_by_what_the_database_holds():
    test = make_test(state="draft")
    stale = type(test).objects.get(pk=test.pk)
    move(test, "deprecate", by=None)

    with pytest.raises(Refused, match="is deprecated"):
        move(stale, "approve", by=None)


def test_a_move_leaves_what_was_typed_but_not_saved():
    test = make_test(state="draft")
    test.guidelines = "Typed, never saved."

    move(test, "approve", by=None)

    test.refresh_from_db()
    assert test.guidelines == "The answer is 4."


def test_the_history_says_who_moved_and_how():
    test, user = make_test(state="draft"), make_user()

    move(test, "approve", by=user)

    newest = test.history.first()
    assert (newest.state, newest.history_user, newest.history_change_reason) == (
        TestState.APPROVED,
        user,
        "Approve",
    )


@pytest.mark.parametrize(
    ("make", "role", "moves"),
    [
        (make_test, "viewer", {"draft": []}),
        (make_test, "annotator", {"draft": ["review"], "in_review": ["draft"], "approved": []}),
        (
            make_test,
            "maintainer",
            {
                "draft": ["review", "approve", "deprecate"],
                "approved": ["draft", "deprecate"],
                "deprecated": ["draft"],
            },
        ),
        (make_issue, "annotator", {"draft": ["review"], "approved": []}),
        (
            make_issue,
            "maintainer",
            {"approved": ["resolve", "draft", "deprecate"], "resolved": ["reopen", "deprecate"]},
        ),
    ],
)
def test_roles_are_offered_their_moves(make, role, moves):
    user = make_user(role)
    assert {state: names(open_moves(make(state=state), user)) for state in moves} == moves


def test_several_are_moved_and_the_others_named():
    good, bad = make_test(state="draft"), make_test(state="draft", guidelines="")

    moved = move_all([good, bad], "approve", by=None)

    assert moved.done == 1
    assert moved.refused == [f"{bad} cannot be approved yet. Add guidelines for judges."]


@pytest.mark.parametrize(
    ("role", "state"), [("annotator", TestState.IN_REVIEW), ("maintainer", TestState.APPROVED)]
)
def test_an_edit_by_someone_who_may_not_approve_calls_for_review_again(role, state):
    test = make_test(state="approved")

    assert review_again(test, make_user(role)) == (role == "annotator")
    assert test.state == state


def test_every_move_leads_to_a_state_that_is_known():
    for moves, known in ((states.ISSUE_MOVES, IssueState), (states.TEST_MOVES, TestState)):
        assert {found.target for found in moves} <= set(known.values)


def test_ones_own_last_move_is_undone():
    issue, user = make_reviewable_issue(), make_user("maintainer")
    for name in ("review", "approve"):
        move(issue, name, by=user)

    undo(issue, by=user)

    issue.refresh_from_db()
    assert issue.state == IssueState.IN_REVIEW
    assert issue.history.latest().history_change_reason == "Undone: Approve"


def test_only_an_own_move_is_undone():
    issue = make_reviewable_issue()
    with pytest.raises(Refused, match="has no change of state"):
        undo(issue, by=make_user())
    move(issue, "review", by=make_user(username="anna"))
    with pytest.raises(Refused, match="anna made the last change of state"):
        undo(issue, by=make_user())
