"""Answers are filed as tests, as a new issue or in a queue, one or several, and undone."""

import re

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse

from issues.models import Issue, Test, TestState
from runs.models import Result
from runs.review.queue_items import add_results
from runs.review.reservations import take
from tests.factories import make_issue, make_test, make_user
from tests.reports.judged_runs import judged
from tests.runs.review.rows import make_queue
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def result() -> Result:
    test = make_test("How much is 2 + 2?", reference="4", guidelines="Look for 4.")
    found = judged([0], tests=[test]).results.get()
    assert found.answer.text
    return found


@pytest.fixture
def annotator(client):
    person = make_user("annotator")
    client.force_login(person)
    return person


def file(client, *results, **sent):
    keys = [result.pk for result in results]
    return client.post(reverse("admin:runs_result_file"), {"result": keys, **sent}, follow=True)


def undo(client, page):
    """Press Undo in the message of a page."""
    token = re.search(r'name="made" value="([^"]*)"', page.content.decode())[1]
    return client.post(reverse("admin:runs_result_undo_file"), {"made": token}, follow=True)


def test_a_new_test_has_the_conversation_and_the_flagged_answer(client, annotator, result):
    response = file(client, result, act="test")
    test = Test.objects.latest("pk")

    assert response.redirect_chain[-1][0] == test.get_absolute_url()
    assert (test.issue, test.author, test.state) == (result.issue, annotator, TestState.DRAFT)
    assert test.messages == result.revision.content["messages"]
    assert (test.flagged_answer, test.reference) == (result.answer.text, "4")
    assert test.guidelines == "", "what judges look for in a new fault, its author says"


def test_a_new_issue_has_a_title_and_the_test(client, annotator, result):
    file(client, result, act="issue", title="Adds wrongly")
    test = Test.objects.latest("pk")

    assert (test.issue.title, test.issue.author) == ("Adds wrongly", annotator)
    assert test.issue != result.issue


def test_what_cannot_be_filed_is_refused(client, annotator, result):
    before = Issue.objects.count(), Test.objects.count()
    for title, problem in (("  ", "Enter a title"), ("x" * 201, "at most 200 characters")):
        assert problem in file(client, result, act="issue", title=title).content.decode()
    result.answer.delete()
    html = file(client, result, act="test").content.decode()
    assert "no answer to make a test from" in html
    assert (Issue.objects.count(), Test.objects.count()) == before


def test_a_test_of_a_sealed_answer_is_sealed(client, annotator, result):
    Test.objects.filter(pk=result.test_id).update(sealed=True)
    file(client, result, act="issue", title="Adds wrongly")

    assert Test.objects.latest("pk").sealed
    viewer = make_user("viewer")
    assert Test.objects.latest("pk") not in Test.objects.readable_by(viewer)


def test_an_answer_is_added_to_a_queue_once_with_who_wants_it(client, annotator, result):
    queue, closed = make_queue(), make_queue(state="closed")
    first, again, refused = (
        file(client, result, act="queue", queue=one.pk).content.decode()
        for one in (queue, queue, closed)
    )

    item = queue.items.get()
    assert item.result == result
    assert item.reasons == [{"key": "requested", "description": f"Added by {annotator}"}]
    assert queue.assignments.count() == queue.reviewers
    assert "1 answer added to" in first
    assert "has it already" in again
    assert "This queue is closed" in refused
    assert not closed.items.exists()


def test_who_may_not_write_is_not_offered_to_file(client, result):
    client.force_login(make_user("viewer"))

    assert "File as…" not in client.get(result.get_absolute_url()).content.decode()


# Several -----------------------------------------------------------------------------------------


@shared_data
def several():
    tests = [make_test("How much is 2 + 2?"), make_test("How much is 3 + 3?")]
    return list(judged([0, 0], tests=tests).results.order_by("pk"))


def test_several_become_tests_of_their_own_issues_of_one_or_a_new_one(client, annotator, several):
    issue, queue = make_issue(), make_queue()
    tests = set(Test.objects.all())

    file(client, *several, act="test")
    file(client, *several, act="test", issue=issue.pk)
    file(client, *several, act="issue", title="Adds wrongly")
    page = file(client, *several, act="queue", queue=queue.pk)

    issues = [test.issue for test in Test.objects.order_by("pk") if test not in tests]
    new = Issue.objects.get(title="Adds wrongly")
    assert issues == [several[0].issue, several[1].issue, issue, issue, new, new]
    assert queue.items.count() == 2
    assert "2 answers added to" in page.content.decode()


def test_a_new_issue_is_offered_the_tests_words_as_title_unless_sealed(client, annotator, several):
    address = reverse("admin:runs_result_file")
    query = {"result": [result.pk for result in several]}

    offered = client.get(address, query).content.decode()
    Test.objects.filter(pk=several[1].test_id).update(sealed=True)
    sealed = client.get(address, query).context["forms"]["issue"]

    assert 'value="How much is 2 + 2?"' in offered
    assert sealed["title"].value() == ""


def test_the_list_of_results_leads_to_filing_its_selection(client, annotator, several):
    keys = [result.pk for result in several]
    sent = {"action": "file_selected", ACTION_CHECKBOX_NAME: keys}

    page = client.post(reverse("admin:runs_result_changelist"), sent, follow=True)

    assert page.context["results"] == several
    nothing = client.get(reverse("admin:runs_result_file"), follow=True)
    assert "Select 1 to 100 results" in nothing.content.decode()


# Undo --------------------------------------------------------------------------------------------


def test_undo_removes_exactly_what_was_made(client, annotator, several, subtests):
    queue = make_queue()
    kept = add_results(queue, several[:1], by=annotator)

    def all_rows():
        rows = Issue.objects.all(), Test.objects.all(), queue.items.all()
        return [set(each) for each in rows]

    before = all_rows()
    for sent in ({"act": "test"}, {"act": "issue", "title": "Adds wrongly"}, {"act": "queue"}):
        with subtests.test(sent["act"]):
            page = file(client, *several, queue=queue.pk, **sent)
            assert all_rows() != before
            assert "Undone" in undo(client, page).content.decode()
            assert all_rows() == before
    assert list(queue.items.all()) == kept


def test_what_somebody_changed_since_stays(client, annotator, several):
    page = file(client, *several, act="issue", title="Adds wrongly")
    test = Test.objects.latest("pk")
    test.guidelines = "Look at the sum."
    test.save()

    said = undo(client, page).content.decode()

    assert "was changed or used since, so nothing was undone" in said
    assert Issue.objects.get(title="Adds wrongly").tests.count() == 2


def test_what_somebody_reviews_stays_in_the_queue(client, annotator, result):
    queue = make_queue()
    page = file(client, result, act="queue", queue=queue.pk)
    take(queue, by=make_user("annotator"))

    assert "Somebody has begun to review" in undo(client, page).content.decode()
    client.force_login(make_user("maintainer"))
    assert undo(client, page).status_code == 403  # as another filed it
    assert queue.items.count() == 1
