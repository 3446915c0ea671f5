"""ETag and If-Match: a script does not overwrite what it has not read."""

import pytest

from evalhub.api.headers import matches
from tests.api import client_of
from tests.factories import make_issue, make_run, make_test, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.both_engines
def test_a_rubric_that_somebody_extended_is_not_overwritten():
    url = f"/api/v1/tests/{make_test().pk}/"
    first, second = client_of("annotator"), client_of(make_user("annotator", username="beth"))
    made = first.patch(url, {"criteria": [{"text": "A"}, {"text": "B"}]})
    read = made.json()["criteria"]

    added = second.patch(url, {"criteria": [*read, {"text": "C"}]})
    stale = first.patch(url, {"criteria": read}, headers={"If-Match": made.headers["ETag"]})

    assert (stale.status_code, stale.json()["code"]) == (412, "changed_since")
    assert stale.headers["ETag"] == stale.json()["etag"] == added.headers["ETag"]
    now = first.get(url)
    assert [row["text"] for row in now.json()["criteria"]] == ["A", "B", "C"]
    again = first.patch(url, {"criteria": read}, headers={"If-Match": now.headers["ETag"]})
    assert (again.status_code, len(again.json()["criteria"])) == (200, 2)


def test_the_refusal_names_who_changed_it():
    url = f"/api/v1/issues/{make_issue().pk}/"
    client, beth = client_of("annotator"), make_user("annotator", username="beth")
    etag = client.get(url).headers["ETag"]
    client_of(beth).patch(url, {"severity": "high"})

    refused = client.patch(url, {"severity": "low"}, headers={"If-Match": etag})

    assert refused.json()["detail"].startswith("beth changed this at ")


@pytest.mark.parametrize("role", ["maintainer", "viewer"])
def test_what_is_answered_has_the_etag_of_what_is_read(role):
    client = client_of("maintainer")
    made = client.post("/api/v1/issues/", {"title": "It rounds", "tags": []})
    url = f"/api/v1/issues/{made.json()['id']}/"
    patched = client.patch(url, {"description": "Seen twice."})
    moved = client.post(f"{url}move/", {"move": "deprecate"})

    assert made.headers["ETag"] != patched.headers["ETag"] != moved.headers["ETag"]
    assert moved.headers["ETag"] == client_of(role).get(url).headers["ETag"]
    assert "ETag" not in client.get("/api/v1/issues/").headers


@pytest.mark.parametrize(
    ("act", "body"), [("pause", {}), ("rejudge", {}), ("set_active", {"judge_run": 1})]
)
def test_actions_on_a_run_that_changed_are_refused(act, body):
    run = make_run(make_test())
    client = client_of("maintainer")
    etag = client.get(f"/api/v1/runs/{run.pk}/").headers["ETag"]
    client.post(f"/api/v1/runs/{run.pk}/cancel/")

    url = f"/api/v1/runs/{run.pk}/{act}/"
    refused = client.post(url, body, headers={"If-Match": etag})

    assert refused.status_code == 412


def test_the_same_key_is_answered_alike_though_the_row_has_changed():
    test = make_test()
    url = f"/api/v1/tests/{test.pk}/"
    client = client_of("annotator")
    headers = {"If-Match": client.get(url).headers["ETag"], "Idempotency-Key": "1"}

    first, second = (
        client.post(f"{url}comments/", {"text": "Too easy."}, headers=headers) for _ in range(2)
    )

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert test.comments.count() == 1


@pytest.mark.parametrize(
    ("header", "fits"),
    [('"a"', True), ('"b", "a"', True), ("*", True), ('W/"a"', True), ('"b"', False), ("a", False)],
)
def test_if_match_has_one_of_several_etags_or_any(header, fits):
    assert matches(header, '"a"') == fits
