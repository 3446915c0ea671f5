"""Every bulk action of the admin's lists × everybody who may knock: to whom it is offered.

A new action fails `test_every_action_is_classified` until it stands in `ACTIONS`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.urls import reverse

from evalhub.models import User
from tests.factories import make_user
from tests.test_access_matrix import (
    ACTORS,
    ADMINS,
    ALL,
    LADDER,
    MAINTAINERS,
    STAFF,
    WRITERS,
    actor,
    knock,
    post,
    rows,  # noqa: F401 -- a fixture
)

pytestmark = pytest.mark.django_db

DELETE = "delete_selected"
"""Offered to those with the right to delete such rows; which those are is said with the roles."""

ACTIONS: dict[str, dict[str, frozenset[str]]] = {
    "axes.accessattempt": {"cleanup_expired_attempts": ADMINS},
    "evalhub.delivery": {"again": MAINTAINERS},
    "evalhub.languagemodel": {"activate": MAINTAINERS, "deactivate": MAINTAINERS},
    "evalhub.notification": {"mark_read": STAFF, "mark_unread": STAFF},
    "evalhub.token": {"revoke": STAFF},  # their own ones
    "issues.feedback": {"accept": WRITERS, "dismiss": WRITERS, "erase": MAINTAINERS},
    "issues.issue": {
        "send_to_review": WRITERS,
        "change_selected": WRITERS,
        "merge_selected": WRITERS,
        "approve": MAINTAINERS,
        "deprecate": MAINTAINERS,
        "launch_selected": MAINTAINERS,
        "suite_of_selected": MAINTAINERS,
    },
    "issues.librarycriterion": {"add_to_rubric": WRITERS},
    "issues.tag": {
        "merge_tags": MAINTAINERS,
        "launch_selected": MAINTAINERS,
        "suite_of_selected": MAINTAINERS,
    },
    "issues.test": {
        "send_to_review": WRITERS,
        "move_selected": WRITERS,
        "tag_selected": WRITERS,
        "suite_of_selected": MAINTAINERS,
        "approve": MAINTAINERS,
        "deprecate": MAINTAINERS,
        "launch_selected": MAINTAINERS,
    },
    "runs.example": {"copy_selected": MAINTAINERS},
    "runs.result": {
        "file_selected": WRITERS,
        "override_selected": WRITERS,
        "try_in_workbench": WRITERS,
    },
    "runs.run": {"compare_selected": ALL},
    "trials.artifact": {"approve": MAINTAINERS, "mark_exposed": MAINTAINERS},
}

MAY_DELETE: dict[str, frozenset[str]] = {
    "axes.accessattempt": ADMINS,
    "evalhub.user": ADMINS,
    **dict.fromkeys(("issues.feedback", "issues.issue", "issues.test"), MAINTAINERS),
    **dict.fromkeys(("issues.resolutionlabel", "issues.tag", "evalhub.webhook"), MAINTAINERS),
    **dict.fromkeys(("reports.capability", "reports.reportschedule"), MAINTAINERS),
    **dict.fromkeys(("runs.jury", "runs.launch", "runs.suite"), MAINTAINERS),
}


class Offer(NamedTuple):
    """An action of a list, such as `issues.issue` and `approve`."""

    table: str
    action: str


def offers_to(user: User | AnonymousUser) -> Iterator[Offer]:
    """The actions that this person finds on the lists that are open to them."""
    request = RequestFactory().get("/")
    request.user = user
    for model, model_admin in admin.site._registry.items():
        if user.is_staff and model_admin.has_view_or_change_permission(request):
            for name in model_admin.get_actions(request):
                yield Offer(model._meta.label_lower, name)


def expected_for(name: str) -> set[Offer]:
    classified = {Offer(t, a): may for t, actions in ACTIONS.items() for a, may in actions.items()}
    classified |= {Offer(table, DELETE): may for table, may in MAY_DELETE.items()}
    return {offer for offer, may in classified.items() if name in may}


def test_every_action_is_classified():
    every = {offer for offer in offers_to(make_user("superuser")) if offer.action != DELETE}
    known = {Offer(table, action) for table, actions in ACTIONS.items() for action in actions}

    assert sorted(every - known) == [], "Say in ACTIONS to whom they are offered."
    assert sorted(known - every) == [], "These are left over."


@pytest.mark.parametrize("name", [name for name in ACTORS if name != "read-only token"])
def test_actions_are_offered_to_those_named_and_to_no_others(name):
    _, user = actor(name)
    offered = set(offers_to(user or AnonymousUser()))

    assert sorted(offered ^ expected_for(name)) == []


def test_an_action_that_is_not_offered_changes_nothing(rows):  # noqa: F811
    """Who is not offered it may send it all the same: asked of the highest of them."""
    clients = {name: actor(name)[0] for name in LADDER}
    offered = {name: expected_for(name) for name in LADDER}
    changed = []
    for model in admin.site._registry:
        row = rows.get(model._meta.model_name)
        if row is None or not isinstance(row, model):
            continue
        label = model._meta.label_lower
        for action in (DELETE, *ACTIONS.get(label, ())):
            name = [one for one in LADDER if (label, action) not in offered[one]][-1]
            sent = {"action": action, ACTION_CHECKBOX_NAME: [row.pk], "post": "yes"}
            before = values_of(row)
            if knock_and_look(clients[name], model, sent, row) != before:
                changed.append((name, label, action))

    assert changed == []


def values_of(row: Any) -> list[dict[str, Any]]:
    return list(type(row)._default_manager.filter(pk=row.pk).values())


def knock_and_look(client: Any, model: Any, sent: dict[str, Any], row: Any) -> Any:
    """The row's values once this was sent; what it did is undone by `knock` where it did not."""
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    seen: list[Any] = []
    door = post(ALL, **sent)
    knock(Watched(client, lambda: seen.append(values_of(row))), url, door)
    return seen[0]


class Watched:
    """A client that looks after each answer, before what was done is undone."""

    def __init__(self, client: Any, look: Any) -> None:
        self.client, self.look = client, look
        self.cookies = client.cookies

    def post(self, address: str, sent: dict[str, Any]) -> Any:
        response = self.client.post(address, sent)
        self.look()
        return response
