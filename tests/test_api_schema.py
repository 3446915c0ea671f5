"""Generated requests to every operation of the API: what comes back is what the schema says."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as example_settings
from schemathesis.checks import CHECKS
from schemathesis.core import NOT_SET
from schemathesis.core.failures import FailureGroup

from evalhub.access import request_limits
from tests.api import client_of
from tests.factories import make_user
from tests.test_access_matrix import rows as rows  # a fixture

CHECKED = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
}


def answer(client: Any, case: Any) -> httpx.Response:
    """What the site answers to a generated request, in the form that the checks read."""
    if "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = 1  # a row that there is, of most kinds
    query = {
        name: value if isinstance(value, str | int | list) else json.dumps(value)
        for name, value in (case.query or {}).items()
    }
    address = f"{case.formatted_path}?{urlencode(query, doseq=True)}"
    body = {} if case.body is NOT_SET else {"data": case.body, "format": "json"}
    response = getattr(client, case.method.lower())(address, **body)
    content = b"".join(response.streaming_content) if response.streaming else response.content
    seen = httpx.Response(
        response.status_code,
        headers=dict(response.headers),
        content=content,
        request=httpx.Request(case.method, f"http://testserver{address}"),
    )
    seen.elapsed = timedelta()
    return seen


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "examples"), [("superuser", 4), ("viewer", 1)])
def test_responses_are_as_the_schema_says(rows, monkeypatch, role, examples):
    monkeypatch.setattr(request_limits, "counted", lambda *limit: 0)
    client = client_of(make_user(role))
    client.raise_request_exception = False
    schema = schemathesis.openapi.from_dict(client.get("/api/schema/?format=json").json())
    excluded = [check for check in CHECKS.get_all() if check.__name__ not in CHECKED]
    wrong = []

    for operation in schema.get_all_operations():

        @seed(1)
        @example_settings(
            max_examples=examples,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.ok().as_strategy())
        def ask(case: Any) -> None:
            response = answer(client, case)
            try:
                case.validate_response(response, excluded_checks=excluded)
            except FailureGroup as error:
                wrong.append(
                    f"{case.method} {case.path} {response.status_code}: {error.exceptions}"
                )

        ask()

    assert wrong == [], "\n\n".join(wrong)
