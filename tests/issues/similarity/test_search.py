"""Search for similar rows: found with reasons, hidden without the right to read."""

import json
from pathlib import Path

import pytest

from issues.models import Issue, IssueState
from issues.similarity.search import COMPARED, FEEDBACK, INDEXES, ISSUE, IssueIndex, similar
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import make_feedback

pytestmark = pytest.mark.django_db

PLANTED = json.loads((Path(__file__).parent / "paraphrases.json").read_text())
"""Kinds of mistakes, each with a paraphrase, an anecdote, and ten others of the same field."""


def plant() -> list[Issue]:
    """The planted issues among two hundred others; gives them in order."""
    others = [
        Issue(title=title, description=description, state=IssueState.APPROVED)
        for kind in PLANTED
        for title, description in kind["distractors"]
    ]
    Issue.objects.bulk_create(others)
    return [make_issue(title=one["title"], description=one["description"]) for one in PLANTED]


def found_in_the_first_five(said: str) -> int:
    """Count the planted issues among the first five results for their paraphrases."""
    reader, planted = make_user("viewer"), plant()
    hits = 0
    for issue, kind in zip(planted, PLANTED, strict=True):
        hits += issue.pk in [one.pk for one in similar(kind[said], reader=reader, kinds=[ISSUE])]
    return hits


def test_at_least_sixteen_of_twenty_paraphrases_are_found():
    assert found_in_the_first_five("paraphrase") >= 16


def test_of_anecdotes_which_name_no_fault_some_are_found():
    assert found_in_the_first_five("anecdote") >= 5


def test_a_merged_issue_leads_to_where_it_was_merged():
    kept = make_issue(title="Arithmetic")
    middle = make_issue(title="Sums", merged_into=kept, state="deprecated")
    make_issue(title="Zebra invoices are rounded", merged_into=middle, state="deprecated")

    (found,) = similar("zebra invoices rounded", reader=make_user("viewer"), kinds=[ISSUE])

    assert (found.pk, found.issue_id) == (kept.pk, kept.pk)
    assert "Zebra invoices are rounded" in found.why


def test_a_duplicate_leads_to_its_original_and_is_told_once():
    original = make_feedback(comment="The zebra invoice is rounded.")
    make_feedback(comment="Zebra invoice rounded!", state="duplicate", duplicate_of=original)

    found = similar("zebra invoice rounded", reader=make_user("viewer"), kinds=[FEEDBACK])

    assert [one.pk for one in found] == [original.pk]


def test_issues_and_feedback_of_sealed_tests_are_told_to_who_may_read_them():
    issue = make_test(sealed=True, issue=make_issue(title="T", description="zebra invoice")).issue
    make_feedback(comment="The zebra invoice is rounded.", issue=issue)

    def told(role):
        found = similar("zebra invoice", reader=make_user(role))
        return sorted(one.kind for one in found)

    assert told("viewer") == []
    assert told("annotator") == [FEEDBACK, ISSUE]


@pytest.mark.parametrize(("role", "tells"), [("viewer", False), ("annotator", True)])
def test_a_score_tells_no_word_of_sealed_rows(role, tells):
    """The rarer a word the more it weighs, so that scores tell which words other rows have."""
    issue = make_issue(title="Zebra invoices", description="They lose the quaggark.")
    feedback = make_feedback(comment="Zebra invoices lose the quaggark.", issue=issue)
    make_test(issue=issue, sealed=True)
    open_one = make_issue(title="Zebra stripes are miscounted")
    make_feedback(comment="Zebra stripes are miscounted.", issue=open_one)
    reader = make_user(role)

    def found() -> list[tuple[int, float, str]]:
        rows = similar("zebra quaggark", reader=reader)
        return [(row.pk, row.score, row.why) for row in rows if row.issue_id == open_one.pk]

    before = found()
    issue.description = "They lose the okapiurk."
    issue.save()
    feedback.delete()

    assert len(before) == 2
    assert (found() != before) is tells


def test_what_is_sealed_and_unsealed_is_taken_over():
    test = make_test(issue=make_issue(title="Zebra invoices"))
    other = make_test(issue=make_issue(title="Zebra stripes"))

    def found() -> list[str]:
        rows = similar("zebra", reader=make_user("viewer"), kinds=[ISSUE])
        return sorted(row.title for row in rows)

    assert found() == ["Zebra invoices", "Zebra stripes"]
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    assert found() == ["Zebra stripes"]
    type(test).objects.filter(pk=test.pk).update(sealed=False)
    type(test).objects.filter(pk=other.pk).update(sealed=True)
    assert found() == ["Zebra invoices"]


def test_what_is_changed_added_or_deleted_is_taken_over():
    reader = make_user("viewer")

    def titles():
        return [one.title for one in similar("zebra invoices", reader=reader, kinds=[ISSUE])]

    assert titles() == []
    issue = make_issue(title="Zebra invoices")
    assert titles() == ["Zebra invoices"]
    issue.title = "Giraffes"
    issue.save()
    assert titles() == []
    issue.title = "Zebra invoices again"
    issue.save()
    assert titles() == ["Zebra invoices again"]
    issue.delete()
    assert titles() == []


def test_what_is_far_from_everything_finds_nothing():
    make_issue(title="Rounds currency too early")

    assert similar("qwertz", reader=make_user("viewer")) == []
    assert similar("  ", reader=make_user("viewer")) == []


def test_an_own_row_is_left_out():
    feedback = make_feedback(comment="The zebra invoice is rounded.")

    assert (
        similar("zebra invoice", reader=make_user("viewer"), besides=(FEEDBACK, feedback.pk)) == []
    )


def test_without_word_vectors_words_alone_are_compared(monkeypatch):
    monkeypatch.setattr("issues.similarity.search._vectors", lambda texts: None)
    index = IssueIndex(Issue, COMPARED[ISSUE], is_open=True)
    monkeypatch.setitem(INDEXES, (ISSUE, True), index)
    make_issue(title="Zebra invoices are rounded")
    make_issue(title="Medicines are refused")

    (found,) = similar("the zebra invoices", reader=make_user("viewer"), kinds=[ISSUE])

    assert found.why == "shared words: zebra, invoices"


def test_a_search_takes_as_many_queries_whatever_there_is(django_assert_max_num_queries):
    reader = make_user("viewer")
    for n in range(30):
        make_issue(title=f"Zebra invoices {n}")
        make_feedback(comment=f"Zebra invoice {n} is rounded.")
    similar("zebra invoice", reader=reader)

    with django_assert_max_num_queries(12):
        assert len(similar("zebra invoice", reader=reader)) == 10
