"""Drafts by script: asked for, read, accepted and rejected as on the page."""

import pytest
from django.urls import reverse
from django.utils import timezone

from issues.models import Draft, Generation
from issues.models import Test as Sample
from tests.api import client_of
from tests.factories import make_issue, make_model, make_test, make_user
from tests.issues.drafting.writers import make_settings

pytestmark = pytest.mark.django_db


@pytest.fixture
def script():
    return client_of(make_user("annotator"))


def post(client, name, body=None, *args):
    address = reverse(f"api-{name}", args=args)
    return client.post(address, body or {}, content_type="application/json")


def order(**changes):
    settings = make_settings().model_dump(mode="json")
    return {"issue": make_issue().pk, "generator": make_model().pk, "settings": settings} | changes


def started(client, body):
    """What is answered once the estimate was read and accepted."""
    estimate = post(client, "generation-list", body)
    assert estimate.status_code == 200, estimate.content
    return post(client, "generation-list", body | {"accepted_calls": estimate.json()["calls_low"]})


def test_drafts_are_written_only_once_their_estimate_is_accepted(script):
    estimate = post(script, "generation-list", order())
    wrong = post(script, "generation-list", order(accepted_calls=1))

    assert (estimate.status_code, wrong.status_code) == (200, 409), estimate.content
    assert estimate.json()["calls_low"] == 3
    assert "at least 3 calls" in wrong.json()["detail"]
    assert not Generation.objects.exists()


def test_a_script_has_drafts_written_and_decides_on_them(script):
    made = started(script, order())
    assert made.status_code == 201
    batch = made.json()
    assert (batch["state"], batch["drafts"]["proposed"], batch["inputs"]) == ("live", 2, None)
    Generation.objects.update(state="done", prepared_at=timezone.now())
    asked = [{"role": "user", "content": "When?"}]
    Draft.objects.update(state="done", messages=asked, answer="At nine.")

    found = script.get(reverse("api-draft-list") + f"?generation={batch['id']}&decision=proposed")
    yes, no = sorted(found.json()["results"], key=lambda row: row["id"])
    assert (yes["meant"], yes["expected"], yes["test"]) == ("Yes", "", None)
    accepted = post(script, "draft-accept", {"expected": "Yes", "answer": "At ten."}, yes["id"])
    test = Sample.objects.get()
    assert (accepted.json()["decision"], accepted.json()["test"]) == ("accepted", test.pk)
    assert (test.reference, test.origin) == ("At ten.", "generated")
    listed = script.get(reverse("api-test-list") + "?origin=generated").json()["results"]
    assert [row["id"] for row in listed] == [test.pk]
    assert post(script, "draft-reject", None, no["id"]).json()["decision"] == "rejected"
    again = post(script, "draft-accept", None, no["id"])
    assert again.status_code >= 400
    assert "was rejected by" in again.content.decode()
    assert post(script, "draft-undo", None, yes["id"]).json()["decision"] == "proposed"
    assert not Sample.objects.exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"issue": None}, "Name the issue of the tests"),
        ({"settings": {"criterion": "Polite", "options": []}}, "All quantities are 0"),
        ({"settings": {"criterion": "Polite", "colour": 1, "options": []}}, "colour"),
        ({"examples": [999_999]}, "999999"),
    ],
)
def test_a_batch_that_cannot_be_written_says_why(script, changes, problem):
    refused = post(script, "generation-list", {k: v for k, v in order(**changes).items() if v})
    assert refused.status_code == 400
    assert problem in refused.content.decode()
    assert not Generation.objects.exists()


def test_a_sealed_source_is_sent_only_with_consent_and_only_by_its_readers(script, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    test = make_test(sealed=True)
    body = order(issue=test.issue_id, examples=[test.pk])
    reader = client_of(make_user("maintainer"))
    refused = post(reader, "generation-list", body)
    assert "allow_sealed_exposure" in refused.content.decode()
    assert post(client_of(make_user("viewer")), "generation-list", body).status_code == 403
    made = started(reader, body | {"allow_sealed_exposure": True})
    assert made.status_code == 201
    listed = reverse("api-draft-list")
    assert len(script.get(listed).json()["results"]) == 2
    assert client_of(make_user("viewer")).get(listed).json()["results"] == []


def test_a_stopped_batch_is_resumed_and_nothing_failed_is_a_conflict(script):
    pk = started(script, order()).json()["id"]
    assert post(script, "generation-cancel", None, pk).json()["state"] == "cancelled"
    assert post(script, "generation-resume", None, pk).json()["state"] == "live"
    assert post(script, "generation-cancel", None, pk).status_code == 200
    assert post(script, "generation-cancel", None, pk).status_code == 409
