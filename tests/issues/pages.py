"""Helpers for page tests of the issues floor: addresses, logins, forms."""

from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from evalhub.models import User
from issues.models import Feedback, Issue
from tests.factories import make_user


def url(name: str, *args: Any) -> str:
    return reverse(f"admin:issues_{name}", args=args)


def log_in(client: Client, role: str) -> User:
    user = make_user(role)
    client.force_login(user)
    return user


def grant(user: User, codename: str) -> None:
    user.user_permissions.add(Permission.objects.get(codename=codename))


def flashed_text(response: Any) -> list[str]:
    """The messages that the next page will show."""
    return [str(message) for message in get_messages(response.wsgi_request)]


def issue_form(issue: Issue, **changes: Any) -> dict[str, Any]:
    """Return the data that a browser sends to save an issue."""
    sent: dict[str, Any] = {
        "title": issue.title,
        "description": issue.description,
        "severity": issue.severity,
        "assignee": "",
        "tags": [tag.pk for tag in issue.tags.all()],
    }
    for prefix in ("sources", "comments"):
        sent |= {f"{prefix}-TOTAL_FORMS": 0, f"{prefix}-INITIAL_FORMS": 0}
    return sent | changes


def form_of_a_test(**changes: Any) -> dict[str, Any]:
    """Return the data that a browser sends to save a test."""
    sent: dict[str, Any] = {
        "kind": "single",
        "prompt": "What is 2 + 2?",
        "guidelines": "4.",
        "weight": 1,
    }
    sent |= {"reference_by": "human", "tools": "[]", "initial-tools": "[]"}
    sent |= {"comments-TOTAL_FORMS": 0, "comments-INITIAL_FORMS": 0}
    return sent | rubric_form() | changes


def rubric_form(*points: dict[str, Any], saved: int = 0) -> dict[str, Any]:
    """Return the data that a browser sends for a rubric; the first `saved` exist already."""
    sent: dict[str, Any] = {"criteria-TOTAL_FORMS": len(points), "criteria-INITIAL_FORMS": saved}
    for number, point in enumerate(points):
        fields = {"polarity": "should", "weight": 1, "order": number + 1} | point
        sent |= {f"criteria-{number}-{name}": value for name, value in fields.items()}
    return sent


def make_feedback(**fields: Any) -> Feedback:
    return Feedback.objects.create(**({"prompt": "2 + 2?", "comment": "Wrong!"} | fields))
