"""`token`: make an API token, for a pipeline that is set up before anybody has logged in."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from evalhub.access.models import Token, TokenScope, User
from evalhub.access.roles import ROLES
from evalhub.limits import TOKEN_LIFETIME


class Command(BaseCommand):
    help = "Make an API token for a user and print it, once. It has the rights of the user's roles."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="Name of the user; with --role a new one is added.")
        parser.add_argument("--role", choices=ROLES, help="Give the user this role too.")
        parser.add_argument("--name", default="script", help="Name of the script that uses it.")
        parser.add_argument(
            "--scope", choices=TokenScope.values, default=TokenScope.READ, help="Default: read."
        )
        parser.add_argument(
            "--days",
            type=int,
            default=TOKEN_LIFETIME.days,
            help=f"Days until it expires; 0: never. Default: {TOKEN_LIFETIME.days}.",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] < 0:
            raise CommandError(f"--days {options['days']} is in the past: give 0 or more.")
        end = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        user = found_or_added(options["user"], options["role"])
        fields = {"name": options["name"], "scope": options["scope"], "expires_at": end}
        _, text = Token.objects.issue(user=user, **fields)
        self.stdout.write(text)


def found_or_added(name: str, role: str | None) -> User:
    """Return the user, with the role. A new one has no password, so only tokens.

    Raises:
        CommandError: There is no such user and no role to add one with, or it is inactive.
    """
    user = User.objects.filter(username=name).first()
    if user is None and role is None:
        raise CommandError(f"There is no user {name!r}: give --role to add one.")
    if user is not None and not user.is_active:
        raise CommandError(f"The user {name!r} is inactive: its tokens would not work.")
    user = user or User.objects.create_user(name)
    if role:
        user.groups.add(Group.objects.get(name=role))
    return user
