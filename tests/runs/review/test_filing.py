"""New issue, new test and "add to queue" on the page of a result."""

import pytest
from django.urls import reverse

from issues.models import Issue, Test, TestState
from runs.models import Result
from tests.factories import make_test, make_user
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


def file(client, result, **sent):
    return client.post(reverse("admin:runs_result_file", args=[result.pk]), sent, follow=True)


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
    assert "Added to" in first
    assert "has it already" in again


def test_a_closed_queue_takes_nothing(client, annotator, result):
    queue = make_queue(state="closed")

    assert file(client, result, act="queue", queue=queue.pk).status_code == 404
    assert not queue.items.exists()


def test_who_may_not_write_files_nothing(client, result):
    client.force_login(make_user("viewer"))
    page = client.get(result.get_absolute_url()).content.decode()

    assert "rn-file" not in page
    for act in ("test", "issue", "queue", "else"):
        assert file(client, result, act=act, title="x", queue="1").status_code == 403
    assert Test.objects.count() == 1


def test_an_error_has_nothing_to_file(client, annotator, result):
    result.answer.delete()
    html = file(client, result, act="test").content.decode()

    assert "no answer to make a test from" in html
    assert Test.objects.count() == 1
