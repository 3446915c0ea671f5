"""Roles: what each may, what nobody may, and that applying them again changes nothing."""

import pytest
from django.contrib.auth.models import Group, Permission

from evalhub.access.roles import NEVER, ROLES, apply_roles, grants
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def holders(right: str) -> set[str]:
    return {role for role in ROLES if make_user(role).has_perm(right)}


@pytest.mark.parametrize(
    ("right", "roles"),
    [
        ("issues.view_issue", set(ROLES)),
        ("runs.view_run", set(ROLES)),
        ("issues.read_sealed_test", set(ROLES) - {"viewer", "model developer"}),
        ("issues.change_test", set(ROLES) - {"viewer", "model developer"}),
        ("runs.add_humanevaluation", set(ROLES) - {"viewer", "model developer"}),
        ("runs.adjudicate", {"adjudicator", "maintainer", "admin"}),
        ("issues.approve_test", {"maintainer", "admin"}),
        ("runs.add_run", {"maintainer", "admin"}),
        ("runs.control_run", {"maintainer", "admin"}),
        ("evalhub.change_languagemodel", {"maintainer", "admin"}),
        ("evalhub.view_call", {"maintainer", "admin"}),
        ("evalhub.change_user", {"admin"}),
        ("evalhub.change_token", {"admin"}),
        ("auth.change_group", {"admin"}),
    ],
)
def test_a_right_belongs_to_these_roles(right, roles):
    assert holders(right) == roles


def test_what_was_recorded_can_be_changed_by_nobody():
    kept = (
        *("call", "revision", "frozencriterion", "comment", "answer", "result", "resultscore"),
        *("judgment", "humanevaluation", "historicaltest", "historicalissue"),
    )
    rights = Permission.objects.filter(group__isnull=False).values_list("codename", flat=True)

    assert {f"change_{name}" for name in kept} & set(rights) == set()
    assert {f"delete_{name}" for name in kept} & set(rights) == set()


def test_every_right_that_nobody_has_exists():
    rights = {
        f"{right.content_type.app_label}.{right.codename}"
        for right in Permission.objects.select_related("content_type")
    }

    assert [name for name in NEVER if "*" not in name and name not in rights] == []


def test_a_right_of_nobody_is_not_given_by_any_pattern():
    assert not grants("runs.change_judgment", ("runs.*", "*"))
    assert grants("runs.view_judgment", ("runs.view_*",))


def test_roles_get_back_exactly_their_rights():
    viewer = Group.objects.get(name="viewer")
    before = set(viewer.permissions.values_list("pk", flat=True))
    viewer.permissions.add(Permission.objects.get(codename="control_run"))
    viewer.permissions.remove(Permission.objects.get(codename="view_run"))

    apply_roles(sender=None)

    assert set(viewer.permissions.values_list("pk", flat=True)) == before
