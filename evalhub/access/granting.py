"""Limits on giving rights: no person or token gives more than it has itself."""

from collections.abc import Iterable
from datetime import datetime
from ipaddress import ip_network

from django.contrib.auth.models import Group, Permission

from evalhub.access.models import Token, User, networks_in

NAMED = 3
"""Missing rights named in a refusal."""


def roles_problem(giver: User, roles: Iterable[Group]) -> str:
    """Return why a person cannot give these roles; "" if they can."""
    for role in roles:
        rights = role.permissions.select_related("content_type")
        if beyond := missing(giver, rights):
            return f"The role {role.name!r} has rights that you lack, such as {beyond}."
    return ""


def owner_problem(giver: User, owner: User) -> str:
    """Return why a person cannot act for or change this user; "" if they can."""
    if owner.pk == giver.pk or giver.is_superuser:
        return ""
    if owner.is_superuser:
        return f"{owner} has all rights, and you have not."
    rights = Permission.objects.filter(group__user=owner) | Permission.objects.filter(user=owner)
    beyond = missing(giver, rights.select_related("content_type").distinct())
    return f"{owner} has rights that you lack, such as {beyond}." if beyond else ""


def missing(giver: User, rights: Iterable[Permission]) -> str:
    """Return the first few rights that a person lacks."""
    if giver.is_superuser:
        return ""
    names = {f"{right.content_type.app_label}.{right.codename}" for right in rights}
    return ", ".join(sorted(names - giver.get_all_permissions())[:NAMED])


def token_problems(
    by: Token, *, expires_at: datetime | None, networks: str
) -> dict[str, list[str]]:
    """Return why a token cannot create one with these limits, by field; {} if it can.

    Only a token that can write gets here. `expires_at` None: never.
    """
    problems = {}
    if by.expires_at and (expires_at is None or expires_at > by.expires_at):
        problems["expires_at"] = [
            f"Your own token ends at {by.expires_at:%Y-%m-%dT%H:%M:%SZ}: let this one end by then."
        ]
    if by.networks and not are_within(networks, by.networks):
        problems["networks"] = [f"Your own token works from {by.networks} only: choose of these."]
    return problems


def are_within(inner: str, outer: str) -> bool:
    """Return whether all addresses of one list are in the other; "" has all addresses."""
    parts = [ip_network(one, strict=False) for one in networks_in(inner)]
    wholes = [ip_network(one, strict=False) for one in networks_in(outer)]
    return bool(parts) and all(
        any(part[0] in whole and part[-1] in whole for whole in wholes) for part in parts
    )
