"""Sealed text is on no page of those who may not read it."""

import pytest

from issues.content.revisions import freeze
from issues.models import Feedback
from tests.factories import make_test
from tests.issues.pages import flashed_text, form_of_a_test, grant, log_in, url

pytestmark = pytest.mark.django_db

SECRET = "the-sealed-words"


def make_sealed_test():
    """A sealed test with the secret in all its texts, a past, a revision and a sibling."""
    texts = dict.fromkeys(("reference", "guidelines", "flagged_answer", "note", "context"), SECRET)
    test = make_test(SECRET, sealed=True, **texts)
    freeze([test])
    test.reference = SECRET + " again"
    test.save()
    make_test(issue=test.issue)
    return test


def test_who_may_read_sealed_text_sees_it(client):
    test = make_sealed_test()
    log_in(client, "annotator")

    for page in (url("test_change", test.pk), url("test_history", test.pk)):
        assert SECRET in client.get(page).content.decode()


def test_a_viewer_sees_that_there_is_a_sealed_test(client):
    test = make_sealed_test()
    log_in(client, "viewer")

    tab = client.get(url("issue_tab", test.issue_id, "tests")).content.decode()
    assert f"test {test.pk} (sealed)" in tab
    assert SECRET not in tab
    response = client.get(url("test_change", test.pk))
    assert flashed_text(response) == [
        f"Test {test.pk} is sealed. Ask an admin to reveal it to you."
    ]


def test_texts_cannot_be_guessed_through_the_address(client):
    """A lookup over the relation would tell by the number of rows what a test says."""
    make_sealed_test()
    log_in(client, "viewer")

    response = client.get(url("issue_changelist"), {"tests__reference__startswith": "the"})

    assert response.status_code == 400


def test_a_sealed_sibling_is_not_copied_into_an_open_test(client):
    sealed = make_sealed_test()
    open_test = sealed.issue.tests.exclude(pk=sealed.pk).get()
    log_in(client, "maintainer")

    response = client.post(url("test_copy", open_test.pk), {"sibling": sealed.pk})

    open_test.refresh_from_db()
    assert SECRET not in open_test.guidelines
    assert "is sealed" in flashed_text(response)[0]


def test_who_may_not_read_sealed_tests_cannot_seal_one(client):
    test = make_test()
    user = log_in(client, "viewer")
    grant(user, "change_test")

    client.post(url("test_change", test.pk), form_of_a_test(issue=test.issue_id, sealed="on"))

    test.refresh_from_db()
    assert not test.sealed


def test_feedback_of_an_issue_with_a_sealed_test_is_sealed_and_other_feedback_is_not(client):
    test = make_sealed_test()
    sealed = Feedback.objects.create(comment=SECRET, issue=test.issue)
    others = [
        Feedback.objects.create(comment="of another issue", issue=make_test().issue),
        Feedback.objects.create(comment="of none"),
    ]
    log_in(client, "viewer")

    found = {row: client.get(url("feedback_history", row.pk)).status_code for row in others}

    assert found == dict.fromkeys(others, 200)
    assert client.get(url("feedback_history", sealed.pk)).status_code == 404
    page = client.get(url("issue_change", test.issue_id)).content.decode()
    tab = client.get(url("issue_tab", test.issue_id, "feedback")).content.decode()
    assert f"feedback {sealed.pk} (sealed)" in tab
    assert SECRET not in page + tab
