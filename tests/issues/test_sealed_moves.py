"""Nothing that an annotator does with a sealed test or its feedback opens a text."""

import pytest
from django.urls import reverse

from evalhub.models import Exposure
from evalhub.refusals import Refused
from issues.models import Feedback, Test
from issues.triage.actions import attach, mark_duplicate, test_of
from issues.triage.undo import undo_last
from tests.api import client_of
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import form_of_a_test, log_in, make_feedback

pytestmark = pytest.mark.django_db

test_of.__test__ = False


@pytest.fixture
def sealed():
    """A sealed test, and feedback of its issue with its prompt."""
    issue = make_issue(description="SECRET")
    test = make_test("SECRET", issue=issue, sealed=True)
    return test, make_feedback(issue=issue, prompt="SECRET", state="accepted")


def is_closed(test, feedback):
    """Whether a viewer reads neither, and no text of the issue."""
    viewer = client_of("viewer")
    pages = [
        viewer.get(f"/api/v1/issues/{test.issue_id}/"),
        viewer.get("/api/v1/feedback/"),
        viewer.get("/api/v1/tests/"),
    ]
    return not any("SECRET" in page.content.decode() for page in pages) and (
        not Exposure.objects.exists()
    )


def by_the_api(test, feedback):
    return client_of("annotator").patch(f"/api/v1/tests/{test.pk}/", {"issue": make_issue().pk})


def detach(test, feedback):
    return client_of("annotator").patch(f"/api/v1/feedback/{feedback.pk}/", {"issue": None})


def attach_elsewhere(test, feedback):
    other = {"issue": make_issue().pk}
    return client_of("annotator").patch(f"/api/v1/feedback/{feedback.pk}/", other)


def call_a_duplicate(test, feedback):
    other = {"state": "duplicate", "duplicate_of": make_feedback().pk}
    return client_of("annotator").patch(f"/api/v1/feedback/{feedback.pk}/", other)


@pytest.mark.parametrize("act", [by_the_api, detach, attach_elsewhere, call_a_duplicate])
def test_a_script_cannot_move_them_out(sealed, act):
    assert is_closed(*sealed)

    response = act(*sealed)

    assert response.status_code in (400, 409)
    assert "Merge the issues instead." in response.content.decode()
    assert is_closed(*sealed)


def test_the_form_of_a_test_explains_it(client, sealed):
    test, _ = sealed
    log_in(client, "annotator")

    page = client.post(
        reverse("admin:issues_test_change", args=[test.pk]),
        form_of_a_test(issue=make_issue().pk, prompt="SECRET"),
    )

    assert "Merge the issues instead." in page.content.decode()
    assert is_closed(*sealed)


def test_triage_cannot_move_them_out(sealed):
    _, feedback = sealed
    ann = make_user("annotator")
    for act in (
        lambda: attach(feedback, make_issue(), by=ann),
        lambda: mark_duplicate(feedback, make_feedback(), by=ann),
        lambda: test_of(feedback, make_issue(), by=ann),
    ):
        feedback.refresh_from_db()
        with pytest.raises(Refused, match="seals this feedback"):
            act()

    assert is_closed(*sealed)


def test_an_undo_cannot_take_them_back(sealed):
    test, _ = sealed
    ann, feedback = make_user("annotator"), make_feedback(prompt="SECRET")
    attach(feedback, test.issue, by=ann)

    with pytest.raises(Refused, match="seals this feedback"):
        undo_last(by=ann)

    assert is_closed(*sealed)


def test_a_test_made_of_sealed_feedback_is_sealed(sealed):
    test, feedback = sealed

    made = test_of(feedback, test.issue, by=make_user("annotator"))

    assert made.sealed
    assert is_closed(*sealed)


def test_a_sealed_test_is_not_deleted(client, sealed):
    test, _ = sealed
    log_in(client, "superuser")

    response = client.post(reverse("admin:issues_test_delete", args=[test.pk]), {"post": "yes"})

    assert response.status_code == 403
    assert Test.objects.filter(pk=test.pk).exists()


def test_open_ones_move_as_before():
    test = make_test()
    feedback = make_feedback(issue=test.issue, state="accepted")
    other = make_issue()

    assert (
        client_of("annotator").patch(f"/api/v1/tests/{test.pk}/", {"issue": other.pk}).status_code
        == 200
    )
    attach(feedback, other, by=make_user("annotator"))

    assert Feedback.objects.get().issue == other
