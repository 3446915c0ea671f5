"""Tokens: shown once, kept as digests, narrowed by their scope, ended by date or by hand."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from evalhub.models import Token, TokenScope
from issues.models import Feedback, Tag
from tests.api import client_of
from tests.factories import make_run, make_test, make_user

pytestmark = pytest.mark.django_db

LIST = "/api/v1/tags/"


def bearer(text: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def test_the_text_of_a_token_is_its_own_and_not_stored():
    user = make_user("superuser")
    (token, text), *others = (Token.objects.issue(user=user, name="ci") for _ in range(20))

    stored = [str(value) for value in Token.objects.filter(pk=token.pk).values_list()[0]]

    assert len({text, *(other for _, other in others)}) == 20
    assert not any(text in value for value in stored)
    assert token.digest not in text
    assert len(token.prefix) < len(text) / 3
    assert bearer(token.digest).get(LIST).status_code == 401


def test_a_token_has_its_users_rights_and_a_refusal_names_the_missing_one():
    assert client_of("viewer").get(LIST).status_code == 200
    assert client_of("").get(LIST).status_code == 403
    assert client_of("maintainer").post(LIST, {"name": "new"}).status_code == 201
    refused = client_of("viewer").post(LIST, {"name": "other"})
    assert refused.status_code == 403
    assert "issues.add_tag" in refused.json()["detail"]


def test_no_token_is_not_allowed():
    response = APIClient().get(LIST)

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_that_has_ended_or_of_somebody_who_left_is_refused():
    now = timezone.now()
    for fields in ({"revoked_at": now}, {"expires_at": now - timedelta(seconds=1)}):
        response = client_of("superuser", **fields).get(LIST)
        assert response.status_code == 401
        assert response.json()["detail"] == "This token is unknown, revoked or expired."
    assert client_of(make_user("maintainer", is_active=False)).get(LIST).status_code == 401


def test_a_wrong_header_is_refused():
    client = APIClient()
    for header in ("Bearer", "Bearer a b", "Bearer ehub_unknown", "bearer x"):
        client.credentials(HTTP_AUTHORIZATION=header)
        assert client.get(LIST).status_code == 401, header


def test_a_read_only_token_reads_and_does_not_write():
    client = client_of("superuser", TokenScope.READ)

    response = client.post(LIST, {"name": "new"})

    assert client.get(LIST).status_code == 200
    assert (response.status_code, response.json()["detail"]) == (
        403,
        "This token is read-only. Create one that can write.",
    )
    assert not Tag.objects.exists()


def test_a_token_does_not_open_the_admin():
    client = client_of("superuser")

    for page in ("/admin/", "/admin/evalhub/token/", "/admin/evalhub/token/add/"):
        assert client.get(page).status_code == 302
        assert client.post(page, {"name": "another"}).status_code in (302, 403)
    assert Token.objects.count() == 1


def test_the_use_of_a_token_is_noted_once_a_minute():
    client = client_of("viewer")

    client.get(LIST)
    first = Token.objects.get().last_used_at
    client.get(LIST)

    assert first is not None
    assert Token.objects.get().last_used_at == first


def test_a_session_needs_a_csrf_token_to_write():
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("superuser"))

    response = client.post(LIST, {"name": "forged"}, content_type="application/json")

    assert (client.get(LIST).status_code, response.status_code) == (200, 403)
    assert not Tag.objects.exists()


# Their end, addresses and scope ------------------------------------------------------------------


def test_a_token_ends_after_ninety_days_unless_chosen_otherwise(client):
    token, _ = Token.objects.issue(user=make_user("viewer"), name="ci")
    client.force_login(token.user)
    page = client.get("/admin/evalhub/token/add/").content.decode()

    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)
    assert f"{timezone.now() + timedelta(days=90):%Y-%m-%d}" in page


def test_a_changed_password_revokes_all_tokens_of_its_user(client):
    user, other = make_user("viewer"), make_user("viewer")
    script, kept = client_of(user), client_of(other)
    client.force_login(make_user("superuser"))
    new = {"password1": "another long phrase", "password2": "another long phrase"}

    response = client.post(f"/admin/auth/user/{user.pk}/password/", new)
    if response.status_code == 404:
        response = client.post(f"/admin/evalhub/user/{user.pk}/password/", new)

    assert response.status_code == 302
    assert [script.get(LIST).status_code, kept.get(LIST).status_code] == [401, 200]


def test_a_token_works_from_its_addresses_only():
    for networks, address, status in (
        ("", "192.0.2.7", 200),
        ("192.0.2.7", "192.0.2.7", 200),
        ("10.0.0.0/8, 2001:db8::/32", "2001:db8::1", 200),
        ("10.0.0.0/8", "192.0.2.7", 401),
        ("10.0.0.0/8", "2001:db8::1", 401),
    ):
        response = client_of("viewer", networks=networks).get(LIST, REMOTE_ADDR=address)
        assert response.status_code == status, (networks, address)
        assert status == 200 or f"cannot be used from {address}" in response.json()["detail"]


def test_a_wrong_address_is_quoted(client):
    client.force_login(make_user("viewer"))
    sent = {"name": "ci", "scope": "read", "networks": "10.0.0.0/8, office"}
    page = client.post("/admin/evalhub/token/add/", sent).content.decode()

    assert "&#x27;office&#x27; is no address or range" in page
    assert not Token.objects.exists()


def test_an_application_s_token_sends_feedback_and_reads_nothing():
    api = client_of("superuser", TokenScope.FEEDBACK)
    row = {"prompt": "p", "answer": "a"}

    assert api.post("/api/v1/feedback/", row).status_code == 201
    assert api.post("/api/v1/feedback/batch/", {"feedback": [row]}).status_code == 201
    known = {"source": "shop", "source_id": "7"}
    Feedback.objects.create(**known, prompt="THEIRS", comment="THEIRS", note="THEIRS")
    again = api.post("/api/v1/feedback/", {**known, "prompt": "p"})
    assert again.status_code == 200
    assert again.json() == {"id": Feedback.objects.get(source_id="7").pk, **known}
    for address in (
        LIST,
        "/api/v1/feedback/",
        "/api/v1/feedback/1/",
        "/api/v1/reports/leaderboard/",
    ):
        refused = api.get(address)
        assert (refused.status_code, address) == (403, address)
        assert "can send feedback only" in refused.json()["detail"]
    assert api.patch("/api/v1/feedback/1/", {"note": "x"}).status_code == 403
    assert (
        client_of("viewer", TokenScope.FEEDBACK).post("/api/v1/feedback/", row).status_code == 403
    )


DOWNLOAD = "/reports/runs/{}/results.csv"


def test_a_token_pulls_a_download():
    run = make_run(make_test())
    client = client_of("maintainer", scope=TokenScope.READ)

    response = client.get(DOWNLOAD.format(run.pk))

    assert response.status_code == 200
    assert response.headers["Content-Disposition"].endswith('.csv"')


def test_a_token_of_a_script_that_cannot_log_in_reads_reports_with_its_rights():
    run = make_run(make_test())
    script = client_of(make_user("viewer", is_staff=False), scope=TokenScope.READ)
    without = client_of(make_user(is_staff=False), scope=TokenScope.READ)

    for name in ("", "report.json", "junit.xml"):
        address = f"/reports/runs/{run.pk}/{name}"
        assert script.get(address).status_code == 200, address
        refusal = without.get(address)
        assert (refusal.status_code, refusal.json()["code"]) == (403, "permission_denied")
    assert script.get("/reports/runs/0/junit.xml").json()["code"] == "not_found"


def test_a_token_changes_nothing_on_pages():
    token = client_of("maintainer", scope=TokenScope.WRITE)
    response = token.post("/reports/summaries/ask/", {"runs": ["1"]})

    assert "/login/" in response.headers["Location"]


@pytest.mark.parametrize(
    ("text", "scope", "status"),
    [("ehub_unknown", TokenScope.READ, 401), ("", TokenScope.FEEDBACK, 403)],
)
def test_a_token_that_cannot_read_pulls_nothing(text, scope, status):
    run = make_run(make_test())
    client = bearer(text) if text else client_of("maintainer", scope=scope)

    assert client.get(DOWNLOAD.format(run.pk)).status_code == status


def test_the_root_of_the_api_lists_what_there_is():
    found = client_of("viewer").get("/api/v1/").json()

    assert found["tags"] == "http://testserver/api/v1/tags/"
    assert {"issues", "tests", "runs", "results", "language-models"} <= found.keys()
