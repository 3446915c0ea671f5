"""The check that the tables are those that this process's code was written for."""

from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

NAMED = 3
"""Migrations named in a message."""


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return app and name of every migration, as they were when the process first asked."""
    return frozenset(MigrationLoader(None).disk_migrations)


def mismatch() -> str:
    """Return what to do about tables that are not this code's; "": they are."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    apps = {app for app, _ in known_migrations()}
    unknown = sorted(key for key in applied - known_migrations() if key[0] in apps)
    if missing := sorted(known_migrations() - applied):
        others = f" and has {_names(unknown)}, which this code does not know" if unknown else ""
        return f"The database lacks {_names(missing)}{others}: run manage.py migrate."
    if unknown:
        return (
            f"The database has {_names(unknown)}, which this code does not know. Start web server "
            "and workers with the new code. If this is the newest, which has replaced them: run "
            "manage.py migrate APP --prune for each of these apps."
        )
    return ""


def _names(keys: list[tuple[str, str]]) -> str:
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return ", ".join(f"{app}.{name}" for app, name in keys[:NAMED]) + more
