"""Triage: feedback becomes an issue and a test with all its content."""

import pytest
from django.db import IntegrityError, transaction

from evalhub.refusals import Refused
from issues.models import Feedback, FeedbackState, Issue, Origin, Tag, Test
from issues.triage.actions import attach, issue_and_test_from, issue_from, mark_duplicate, set_state
from issues.triage.actions import test_from as make_test_from
from issues.triage.undo import undo_last
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db


def make_feedback(**fields):
    said = {"prompt": "2 + 2?", "answer": "5", "comment": "Wrong!\nIt is 4.", "source": "chat"}
    return Feedback.objects.create(**(said | fields))


def test_an_issue_starts_from_what_the_user_said_and_the_feedback_is_accepted():
    feedback, user = make_feedback(), make_user()

    issue = issue_from(feedback, by=user)

    assert (issue.title, issue.description) == ("Wrong!", "Wrong!\nIt is 4.")
    assert (issue.state, issue.author) == ("draft", user)
    assert [source.value for source in issue.sources.all()] == ["chat"]
    read(feedback)
    assert (feedback.issue, feedback.state) == (issue, FeedbackState.ACCEPTED)


def test_a_second_issue_from_the_same_feedback_is_refused():
    feedback = make_feedback(issue=make_issue(title="Counting"))

    with pytest.raises(Refused, match="already belongs to the issue “Counting”"):
        issue_from(feedback, by=make_user())


def test_a_long_comment_gives_a_short_title():
    issue = issue_from(make_feedback(comment="word " * 100), by=make_user())

    assert len(issue.title) <= 125
    assert issue.title.endswith("word …")


def test_a_test_asks_the_users_prompt_and_flags_the_answer():
    test = make_test_from(make_feedback(issue=make_issue()), by=make_user())

    assert test.messages == [{"role": "user", "content": "2 + 2?"}]
    assert (test.flagged_answer, test.note) == ("5", "Wrong!\nIt is 4.")
    assert (test.origin, test.state) == (Origin.FEEDBACK, "draft")


@pytest.mark.parametrize("sealed", [False, True])
def test_a_test_is_judged_like_its_sibling_unless_that_is_sealed(sealed):
    sibling = make_test(guidelines="Only numbers count.", pass_threshold=0.7, sealed=sealed)

    test = make_test_from(make_feedback(issue=sibling.issue), by=make_user("annotator"))

    assert test.guidelines == ("" if sealed else "Only numbers count.")
    if not sealed:
        assert (test.template, test.pass_threshold) == (sibling.template, 0.7)


def test_a_test_without_issue_and_prompt_is_told_both():
    with pytest.raises(Refused) as refusal:
        make_test_from(make_feedback(prompt=" "), by=make_user())

    assert len(refusal.value.problems) == 2


def test_triage_counts_what_changed_and_signs_it():
    new, user = make_feedback(), make_user()
    done = make_feedback(state=FeedbackState.DISMISSED)

    assert set_state([new, done], FeedbackState.DISMISSED, by=user) == 1
    assert new.history.first().history_user == user


# Duplicates and attaching ------------------------------------------------------------------------


def read(*rows):
    for row in rows:
        row.refresh_from_db()


def test_attached_feedback_is_accepted_as_part_of_an_issue_that_stands():
    feedback, issue = make_feedback(), make_issue()
    merged = make_issue(merged_into=issue, state="deprecated")

    attach(feedback, issue, by=make_user())

    read(feedback)
    assert (feedback.issue, feedback.state) == (issue, FeedbackState.ACCEPTED)
    assert attach(make_feedback(), merged, by=make_user()) == issue
    with pytest.raises(Refused, match="is deprecated"):
        attach(make_feedback(), make_issue(state="deprecated"), by=make_user())


@pytest.mark.parametrize("later", [False, True])
def test_a_duplicate_has_the_issue_of_its_original(later):
    user, feedback = make_user(), make_feedback()
    original = make_feedback(issue=None if later else make_issue())

    mark_duplicate(feedback, original, by=user)
    issue = issue_from(original, by=user) if later else original.issue

    read(feedback)
    assert (feedback.state, feedback.duplicate_of) == (FeedbackState.DUPLICATE, original)
    assert feedback.issue == issue


def test_chains_of_duplicates_are_flat():
    first, second, third, user = make_feedback(), make_feedback(), make_feedback(), make_user()
    mark_duplicate(third, second, by=user)
    mark_duplicate(second, first, by=user)
    fourth = make_feedback()
    mark_duplicate(fourth, Feedback.objects.get(pk=third.pk), by=user)

    read(second, third, fourth)
    assert {row.duplicate_of for row in (second, third, fourth)} == {first}


def test_two_pieces_are_not_duplicates_of_each_other():
    first, second, user = make_feedback(), make_feedback(), make_user()
    mark_duplicate(second, first, by=user)

    with pytest.raises(Refused, match="duplicate of itself"):
        mark_duplicate(first, second, by=user)


@pytest.mark.both_engines
def test_only_a_duplicate_has_an_original_in_the_database():
    with pytest.raises(IntegrityError), transaction.atomic():
        make_feedback(duplicate_of=make_feedback())


def test_a_test_and_its_issue_are_made_at_once_or_neither():
    feedback = make_feedback()
    with pytest.raises(Refused, match="no prompt"):
        issue_and_test_from(make_feedback(prompt=""), by=make_user())
    assert not Issue.objects.exists()

    test = issue_and_test_from(feedback, by=make_user("annotator"))

    read(feedback)
    assert (test.issue.title, test.flagged_answer) == ("Wrong!", "5")
    assert feedback.issue == test.issue


# Two at once, and taking back --------------------------------------------------------------------


def test_the_last_act_is_taken_back_with_state_issue_and_note():
    feedback, user = make_feedback(), make_user()
    set_state([feedback], FeedbackState.DISMISSED, by=user, note="Spam.")

    undo_last(by=user)

    read(feedback)
    assert (feedback.state, feedback.note) == (FeedbackState.NEW, "")
    reasons = [row.history_change_reason for row in feedback.history.all()[:2]]
    assert reasons == ["Undone: Dismissed", "Triaged: Dismissed"]


def test_one_act_after_the_other_is_taken_back():
    first, second, user = make_feedback(), make_feedback(), make_user()
    attach(first, make_issue(), by=user)
    mark_duplicate(second, first, by=user)

    assert [undo_last(by=user).feedback for _ in range(2)] == [second, first]
    read(first, second)
    assert {(row.state, row.issue, row.duplicate_of) for row in (first, second)} == {
        (FeedbackState.NEW, None, None)
    }


def test_duplicates_that_followed_go_back_too():
    original, feedback, other = (make_feedback() for _ in range(3))
    user = make_user()
    mark_duplicate(feedback, original, by=user)
    mark_duplicate(original, other, by=user)

    undo_last(by=user)

    read(original, feedback)
    assert (original.state, feedback.duplicate_of) == (FeedbackState.NEW, original)


def test_neither_acts_of_others_nor_what_was_changed_since_is_taken_back():
    feedback, user = make_feedback(), make_user()
    set_state([feedback], FeedbackState.ACCEPTED, by=user)
    with pytest.raises(Refused, match="no triage action"):
        undo_last(by=make_user())
    set_state([feedback], FeedbackState.DISMISSED, by=make_user(username="ben"))
    with pytest.raises(Refused, match="ben changed this"):
        undo_last(by=user)


def test_an_unused_draft_or_test_with_its_new_issue_is_deleted_when_it_is_taken_back():
    feedback, user = make_feedback(), make_user()
    for make in (issue_from, issue_and_test_from):
        make(feedback, by=user, tags=[Tag.objects.create(name=make.__name__)])
        assert undo_last(by=user).deletes_draft
        read(feedback)
        assert (feedback.issue, feedback.state) == (None, FeedbackState.NEW)
        assert (Issue.objects.count(), Test.objects.count()) == (0, 0)


def test_a_draft_that_was_edited_or_has_a_test_stays():
    rows, user = [make_feedback(), make_feedback()], make_user()
    edited, tested = (issue_from(row, by=user) for row in rows)
    make_test(issue=tested)
    edited = Issue.objects.get(pk=edited.pk)
    edited.title = "Better"
    edited.save()

    assert [undo_last(by=user).deletes_draft for _ in rows] == [False, False]
    assert set(Issue.objects.all()) == {edited, tested}
