"""Feedback through the API: many at once, each once, triaged, and looked for."""

import pytest
from django.contrib.auth.models import Permission

from issues.models import Feedback
from tests.api import client_of, problems_in
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import make_feedback

pytestmark = pytest.mark.django_db

BATCH = "/api/v1/feedback/batch/"


def row(n, **fields):
    return {"comment": f"Wrong {n}.", "source_id": f"chat-{n}"} | fields


def test_many_are_taken_at_once_and_each_only_once():
    client = client_of("annotator")
    codes = [client.post("/api/v1/feedback/", row(1)).status_code for _ in range(2)]

    response = client.post(BATCH, {"feedback": [row(1), row(2), {"comment": "No id."}]})

    found = response.json()
    assert codes == [201, 200]
    assert (response.status_code, found["added"], found["duplicates"]) == (201, 2, 1)
    assert [one["state"] for one in found["results"]] == ["duplicates", "added", "added"]
    assert Feedback.objects.count() == 3


def test_a_second_delivery_of_a_batch_changes_nothing():
    client = client_of("annotator")
    codes = [client.post(BATCH, {"feedback": [row(1), row(2)]}).status_code for _ in range(2)]

    assert (codes, Feedback.objects.count()) == ([201, 200], 2)


def test_a_row_that_comes_twice_in_a_batch_is_saved_once():
    response = client_of("annotator").post(BATCH, {"feedback": [row(1), row(2), row(1), row(1)]})

    one, two, *again = response.json()["results"]
    assert (response.status_code, response.json()["added"]) == (201, 2)
    assert (one["state"], two["state"]) == ("added", "added")
    assert again == [{"id": one["id"], "state": "duplicates"}] * 2
    assert Feedback.objects.count() == 2


def test_of_a_batch_with_bad_rows_nothing_is_saved_and_each_is_explained():
    sent = [row(1), {"model": "heron"}, row(3, rating="sideways"), "text"]

    response = client_of("annotator").post(BATCH, {"feedback": sent})

    assert response.status_code == 400
    (empty, sideways, text) = problems_in(response).items()
    assert empty[0] == "feedback[1]"
    assert "Send a prompt" in str(empty[1])
    assert sideways[0] == "feedback[2].rating"
    assert "sideways" in str(sideways[1])
    assert text[0] == "feedback[3]"
    assert not Feedback.objects.exists()


def test_a_batch_is_bounded():
    response = client_of("annotator").post(BATCH, {"feedback": [row(n) for n in range(501)]})

    assert response.status_code == 400
    assert "500" in str(response.json())


def test_what_came_by_the_api_has_a_history():
    client_of("annotator").post(BATCH, {"feedback": [row(1)]})

    assert Feedback.objects.get().history.get().history_change_reason == "Sent to the API"


def patch(feedback, **fields):
    return client_of("annotator").patch(f"/api/v1/feedback/{feedback.pk}/", fields)


def test_naming_an_original_makes_a_duplicate_that_has_its_issue():
    original, feedback = make_feedback(issue=make_issue()), make_feedback()

    response = patch(feedback, duplicate_of=original.pk)

    feedback.refresh_from_db()
    assert response.status_code == 200
    assert (feedback.state, feedback.issue) == ("duplicate", original.issue)


def test_a_duplicate_of_nothing_is_refused():
    response = patch(make_feedback(), state="duplicate")

    assert "Set `duplicate_of`" in str(problems_in(response)["duplicate_of"])


def test_a_duplicate_that_is_accepted_gives_its_original_up():
    original = make_feedback()
    feedback = make_feedback(state="duplicate", duplicate_of=original)

    patch(feedback, state="accepted")

    feedback.refresh_from_db()
    assert (feedback.state, feedback.duplicate_of) == ("accepted", None)


def test_similar_issues_are_told_with_why():
    issue = make_issue(title="Rounds currency too early", description="Cents are lost.")
    make_issue(title="Refuses to answer about medicines")

    url = "/api/v1/issues/similar/?text=It rounds the currency and I lose cents"
    found = client_of("viewer").get(url).json()

    assert found[0]["id"] == issue.pk
    assert "currency" in found[0]["why"]


def test_similar_feedback_is_told_as_far_as_it_may_be_read():
    test = make_test(sealed=True)
    make_feedback(comment="The zebra invoice is rounded", issue=test.issue)

    url = "/api/v1/feedback/similar/?text=zebra invoice rounded"

    assert client_of("viewer").get(url).json() == []
    assert len(client_of("annotator").get(url).json()) == 1


def test_a_batch_names_no_feedback_that_its_sender_may_not_read():
    test = make_test(sealed=True)
    make_feedback(source="app", source_id="7", issue=test.issue)
    row = {"prompt": "p", "answer": "a", "source": "app", "source_id": "7"}
    writer = make_user()
    rights = ("add_feedback", "view_feedback")
    writer.user_permissions.set(Permission.objects.filter(codename__in=rights))

    sent = client_of(writer).post("/api/v1/feedback/batch/", {"feedback": [row]})
    known = client_of("annotator").post("/api/v1/feedback/batch/", {"feedback": [row]})

    assert sent.json()["results"] == [{"id": None, "state": "duplicates"}]
    assert known.json()["results"][0]["id"] is not None


QUERIES = ["", "?text=", "?text=a&limit=0", "?text=a&limit=x", "?text=a&limit=0010000", "?q=a"]


@pytest.mark.parametrize("query", QUERIES)
def test_a_search_that_cannot_be_made_is_explained(query):
    assert client_of("viewer").get(f"/api/v1/issues/similar/{query}").status_code == 400
