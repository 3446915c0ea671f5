"""Clients of the API, as scripts are."""

from typing import Any

from django.db import connection
from rest_framework.test import APIClient

from evalhub.models import Token, TokenScope, User
from tests.factories import make_user

QUERIES_OF_A_WATERMARK = int(connection.vendor == "postgresql")
"""PostgreSQL is asked for its oldest transaction; SQLite has one writer at a time."""


def client_of(user: User | str, scope: str = TokenScope.WRITE, **fields: Any) -> APIClient:
    """A script with a token of this person, or of a new one with this role."""
    owner = make_user(user) if isinstance(user, str) else user
    _, text = Token.objects.issue(user=owner, name="script", scope=scope, **fields)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def ids(response: Any) -> list[int]:
    """Numbers of the rows on a page, in their order."""
    assert response.status_code == 200, response.content
    return [row["id"] for row in response.json()["results"]]


def problems_in(response: Any) -> dict[str, list[str]]:
    """What a refusal says is wrong, by field; "" for the request as a whole."""
    found: dict[str, list[str]] = {}
    for problem in response.json()["problems"]:
        found.setdefault(problem["field"], []).append(problem["message"])
    return found
