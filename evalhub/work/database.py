"""The one thread in which a worker process uses the database, and the check of its tables."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from evalhub.values import clock

log = logging.getLogger(__name__)
T = TypeVar("T")

AGAIN_S = 1.0
"""Pause between two tries to reach the database."""

MAX_TRIES = 3
"""Tries of a transaction that fails although the database can be reached."""

PASSING_STATES = (
    "08",  # the connection broke
    "25006",  # read-only, as after a failover
    "25P03",  # the process slept within the transaction
    "40",  # deadlock, or a conflict with another transaction
    "53",  # out of disk, memory or connections
    "55P03",  # a lock was not available in time
    "57",  # shut down, starting, or out of time
    "58",  # an error of the disk
)
"""PostgreSQL's states of a refusal that may pass, or how they begin."""

PASSING_CODES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
}


IDLE_S = settings.EVALHUB_LEASE_S / 4
"""Time after which PostgreSQL ends a transaction in which the process does nothing."""


class Unavailable(OperationalError):
    """The database cannot be reached, or refuses for now."""


class Database:
    """Runs functions in the process's database thread.

    `is_patient`: calls through `with_retries` wait for a database that is unavailable.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self.is_patient = True

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function once; raise Unavailable if the database is."""
        events = asyncio.get_running_loop()
        return await events.run_in_executor(
            self._thread, copy_context().run, _attempt, function, args
        )

    async def with_retries(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function, again and again while the database is unavailable.

        `function` must be one transaction that is safe to repeat. Its own errors are raised at
        once; those that may or may not pass, after three tries.
        """
        own_errors = 0
        while True:
            try:
                return await self(function, *args)
            except (OperationalError, InterfaceError) as error:
                own_errors += not isinstance(error, Unavailable) and await self._is_there()
                if not self.is_patient or own_errors == MAX_TRIES:
                    raise
                log.warning("The database is unavailable, trying again: %s", error)
                await asyncio.sleep(AGAIN_S)

    async def _is_there(self) -> bool:
        try:
            await self(_begin_and_end)
        except (OperationalError, InterfaceError):
            return False
        return True

    async def close(self) -> None:
        await self(lambda: connection.close())  # the thread's own connection, not this one's
        self._thread.shutdown()


def end_idle_transactions() -> None:
    """Let no transaction of this process, nor of its children, outlive a sleep of the process.

    The rows that it had locked would keep the others from its work until it wakes. On SQLite there
    is no such limit.
    """
    connection_created.connect(_limit_idle, dispatch_uid="evalhub.work.database")


def _limit_idle(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            name, value = "idle_in_transaction_session_timeout", f"{IDLE_S * 1000:.0f}"
            cursor.execute("SELECT set_config(%s, %s, false)", [name, value])


def _attempt(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return function(*args)
    except Error as error:
        passes = may_pass(error)
        if passes or isinstance(error, OperationalError | InterfaceError):
            connection.close()  # it may be broken, and would fail every call after this one
        if passes:
            raise Unavailable(*error.args) from error
        raise


def may_pass(error: Error) -> bool:
    """Return True if the database is gone or refuses for now, False if it refuses this statement.

    On PostgreSQL the connection's own state does not tell: a transaction's end makes a new one.
    """
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", None)  # of its own errors it has none
        return code is not None and code & 0xFF in PASSING_CODES
    if state := getattr(cause, "sqlstate", None):
        return str(state).startswith(PASSING_STATES)
    is_of_connection = hasattr(cause, "sqlstate") or connection.connection is None
    return is_of_connection and isinstance(error, OperationalError | InterfaceError)


@transaction.atomic
def _begin_and_end() -> None:
    """Run a transaction that reads no table: on SQLite it takes the lock for writing."""
    clock.now()


def update_locked(rows: Sequence[Model], fields: Sequence[str]) -> None:
    """Write these fields of rows that were read whole and are locked.

    It is an upsert, since `bulk_update` takes several times as long for rows of many fields.
    """
    if rows:
        type(rows[0])._default_manager.bulk_create(
            rows, update_conflicts=True, unique_fields=["pk"], update_fields=fields
        )


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
