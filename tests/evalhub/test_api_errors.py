"""What a request that failed is answered: RFC 9457, with a code and all problems at once."""

import pytest
from django.conf import settings

from evalhub.api.problems import CODES, flat
from evalhub.models import TokenScope
from tests.api import client_of
from tests.factories import make_issue, make_test

pytestmark = pytest.mark.django_db
SHARED = {"type", "title", "status", "detail", "instance", "code", "problems"}


def wrong_body(client):
    return client.post("/api/v1/issues/", {"severity": "huge"})


def no_json(client):
    return client.generic("POST", "/api/v1/issues/", "{", content_type="application/json")


def other_type(client):
    return client.generic("POST", "/api/v1/issues/", "a=b", content_type="text/plain")


def without_token(client):
    client.credentials()
    return client.get("/api/v1/issues/")


def with_an_unknown_token(client):
    client.credentials(HTTP_AUTHORIZATION="Bearer ehub_x")
    return client.get("/api/v1/issues/")


def without_right(client):
    return client_of("viewer").post("/api/v1/tags/", {"name": "x"})


def no_such_row(client):
    return client.get("/api/v1/issues/999/")


def no_such_address(client):
    return client.get("/api/v1/nothing/")


def wrong_method(client):
    return client.delete(f"/api/v1/issues/{make_issue().pk}/")


def not_now(client):
    return client.post(f"/api/v1/tests/{make_test().pk}/unseal/", {"reason": "It was published."})


def report_with_a_token_for_feedback(client):
    return client_of("viewer", TokenScope.FEEDBACK).get("/reports/trend/")


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (wrong_body, "invalid"),
        (no_json, "parse_error"),
        (other_type, "unsupported_media_type"),
        (without_token, "not_authenticated"),
        (with_an_unknown_token, "authentication_failed"),
        (without_right, "permission_denied"),
        (no_such_row, "not_found"),
        (no_such_address, "not_found"),
        (wrong_method, "method_not_allowed"),
        (not_now, "conflict"),
        (report_with_a_token_for_feedback, "permission_denied"),
    ],
)
def test_an_error_has_the_form_of_the_standard_and_a_code(ask, code):
    response = ask(client_of("maintainer"))

    assert response.headers["Content-Type"] == "application/problem+json"
    found = response.json()
    assert found.keys() == SHARED
    assert (found["code"], found["status"]) == (code, response.status_code)
    assert found["status"] == CODES[code].status
    assert found["type"].endswith(f":{code}")
    assert found["title"] == CODES[code].title
    assert found["instance"] == response.request["PATH_INFO"]
    assert found["detail"]


def test_all_problems_are_listed_with_the_paths_of_their_fields():
    sent = {"severity": "huge", "sources": [{"kind": "url"}]}

    found = client_of("maintainer").post("/api/v1/issues/", sent).json()

    assert {(one["field"], one["code"]) for one in found["problems"]} == {
        ("severity", "invalid_choice"),
        ("sources[0].value", "required"),
        ("title", "required"),
    }
    assert "sources[0].value: This field is required." in found["detail"]


def test_problems_of_nested_lists_are_named_by_place():
    errors = {"a": {"1": {"b": ["wrong"]}}, "problems": ["both"], "c": [{}, {"d": ["missing"]}]}

    assert [(one.field, one.message) for one in flat(errors)] == [
        ("a[1].b", "wrong"),
        ("", "both"),
        ("c[1].d", "missing"),
    ]


def test_every_code_is_documented():
    text = (settings.BASE_DIR / "docs/api.md").read_text()

    for name, code in CODES.items():
        assert f"| `{name}` | {code.status} | {code.meaning} |" in text
