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

pytestmark = pytest.mark.django_db


@pytest.fixture
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


@pytest.mark.parametrize(
    ("title", "problem"), [("  ", "Enter a title"), ("x" * 201, "at most 200 characters")]
)
def test_a_title_that_cannot_be_is_refused(client, annotator, result, title, problem):
    before = Issue.objects.count(), Test.objects.count()
    html = file(client, result, act="issue", title=title).content.decode()

    assert problem in html
    assert (Issue.objects.count(), Test.objects.count()) == before


def test_a_test_of_a_sealed_answer_is_sealed(client, annotator, result):
    Test.objects.filter(pk=result.test_id).update(sealed=True)
    file(client, result, act="issue", title="Adds wrongly")

    assert Test.objects.latest("pk").sealed
    viewer = make_user("viewer")
    assert Test.objects.latest("pk") not in Test.objects.readable_by(viewer)


def test_an_answer_is_added_to_a_queue_once_with_who_wants_it(client, annotator, result):
    queue = make_queue()
    first = file(client, result, act="queue", queue=queue.pk).content.decode()
    again = file(client, result, act="queue", queue=queue.pk).content.decode()

    item = queue.items.get()
    assert item.result == result
    assert item.reasons == [{"key": "requested", "description": f"Added by {annotator}"}]
    assert queue.assignments.count() == queue.reviewers
    assert "1 answer added to" in first
    assert "has it already" in again


def test_a_closed_queue_takes_nothing(client, annotator, result):
    queue = make_queue(state="closed")

    page = file(client, result, act="queue", queue=queue.pk)

    assert "This queue is closed" in page.content.decode()
    assert not queue.items.exists()


def test_who_may_not_write_files_nothing(client, result):
    client.force_login(make_user("viewer"))
    page = client.get(result.get_absolute_url()).content.decode()

    assert "File as…" not in page
    for act in ("test", "issue", "queue", "else"):
        assert file(client, result, act=act, title="x", queue="1").status_code == 403
    assert Test.objects.count() == 1


def test_an_error_has_nothing_to_file(client, annotator, result):
    result.answer.delete()
    html = file(client, result, act="test").content.decode()

    assert "no answer to make a test from" in html
    assert Test.objects.count() == 1


# Several -----------------------------------------------------------------------------------------


@pytest.fixture
def several():
    tests = [make_test("How much is 2 + 2?"), make_test("How much is 3 + 3?")]
    return list(judged([0, 0], tests=tests).results.order_by("pk"))


def test_several_become_tests_of_their_own_issues_or_of_one(client, annotator, several):
    issue = make_issue()

    file(client, *several, act="test")
    file(client, *several, act="test", issue=issue.pk)

    issues = Test.objects.order_by("pk").values_list("issue", flat=True)
    assert list(issues)[2:] == [several[0].issue_id, several[1].issue_id, issue.pk, issue.pk]


def test_several_become_a_new_issue_or_go_into_a_queue(client, annotator, several):
    queue = make_queue()
    file(client, *several, act="issue", title="Adds wrongly")
    page = file(client, *several, act="queue", queue=queue.pk)

    assert Issue.objects.get(title="Adds wrongly").tests.count() == 2
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


def test_nothing_selected_is_said(client, annotator):
    page = client.get(reverse("admin:runs_result_file"), follow=True)

    assert "Select 1 to 100 results" in page.content.decode()


# Undo --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent", [{"act": "test"}, {"act": "issue", "title": "Adds wrongly"}, {"act": "queue"}]
)
def test_undo_removes_exactly_what_was_made(client, annotator, several, sent):
    queue = make_queue()
    kept = add_results(queue, several[:1], by=annotator) if sent["act"] == "queue" else []
    before = set(Issue.objects.all()), set(Test.objects.all())

    page = file(client, *several, queue=queue.pk, **sent)
    assert (set(Issue.objects.all()), set(Test.objects.all())) != before or queue.items.count() == 2
    said = undo(client, page).content.decode()

    assert "Undone" in said
    assert (set(Issue.objects.all()), set(Test.objects.all())) == before
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
    assert queue.items.count() == 1


def test_nobody_undoes_what_another_filed(client, annotator, result):
    page = file(client, result, act="test")
    client.force_login(make_user("maintainer"))

    assert undo(client, page).status_code == 403
    assert Test.objects.count() == 2
