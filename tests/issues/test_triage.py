"""What a user said becomes an issue and a test, with everything copied."""

import pytest

from issues.models import Feedback, FeedbackState, Origin
from issues.states import Refused
from issues.triage import issue_from, set_state
from issues.triage import test_from as make_test_from
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db


def make_feedback(**fields):
    said = {"prompt": "2 + 2?", "answer": "5", "comment": "Wrong!\nIt is 4.", "source": "chat"}
    return Feedback.objects.create(**(said | fields))


def test_an_issue_starts_from_what_the_user_said():
    feedback, person = make_feedback(), make_user()

    issue = issue_from(feedback, by=person)

    assert (issue.title, issue.description) == ("Wrong!", "Wrong!\nIt is 4.")
    assert (issue.state, issue.author) == ("draft", person)
    assert [source.value for source in issue.sources.all()] == ["chat"]


def test_the_feedback_of_a_new_issue_is_linked_and_accepted():
    feedback = make_feedback()
    issue = issue_from(feedback, by=make_user())

    feedback.refresh_from_db()
    assert (feedback.issue, feedback.state) == (issue, FeedbackState.ACCEPTED)


def test_a_second_issue_from_the_same_feedback_is_refused():
    feedback = make_feedback(issue=make_issue(title="Counting"))

    with pytest.raises(Refused, match="belongs to the issue “Counting” already"):
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


def test_a_test_is_judged_like_its_sibling():
    sibling = make_test(guidelines="Only numbers count.", pass_threshold=0.7)

    test = make_test_from(make_feedback(issue=sibling.issue), by=make_user("annotator"))

    assert test.guidelines == "Only numbers count."
    assert (test.template, test.pass_threshold) == (sibling.template, 0.7)


def test_a_sealed_sibling_gives_nothing_away():
    sibling = make_test(guidelines="Secret.", sealed=True)

    test = make_test_from(make_feedback(issue=sibling.issue), by=make_user("annotator"))

    assert test.guidelines == ""


def test_a_test_without_issue_and_prompt_is_told_both():
    with pytest.raises(Refused) as refusal:
        make_test_from(make_feedback(prompt=" "), by=make_user())

    assert len(refusal.value.problems) == 2


def test_triage_counts_what_changed_and_signs_it():
    new, person = make_feedback(), make_user()
    done = make_feedback(state=FeedbackState.DISMISSED)

    assert set_state([new, done], FeedbackState.DISMISSED, by=person) == 1
    assert new.history.first().history_user == person
