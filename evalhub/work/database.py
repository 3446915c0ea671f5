"""The one thread in which a worker process uses the database."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

from evalhub.work import clock

log = logging.getLogger(__name__)
T = TypeVar("T")

AGAIN_S = 1.0
"""Pause between two tries to reach the database."""

MAX_TRIES = 3
"""Tries of a transaction that fails although the database can be reached."""

SHUT_DOWN = {"57P01", "57P02", "57P03"}
"""PostgreSQL's states for a server that ends a connection, or is about to start."""


class Unreachable(OperationalError):
    """The connection to the database broke, or could not be made."""


class Database:
    """Runs functions in the process's database thread.

    `is_patient`: calls through `with_retries` wait for a database that cannot be reached.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self.is_patient = True

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        events = asyncio.get_running_loop()
        return await events.run_in_executor(self._thread, _attempt, function, args)

    async def with_retries(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function, again and again until the database can be reached.

        `function` must be one transaction that is safe to repeat. Its own errors are raised at
        once; those that may pass, such as a deadlock, after three tries.
        """
        own_errors = 0
        while True:
            try:
                return await self(function, *args)
            except (OperationalError, InterfaceError) as error:
                own_errors += not isinstance(error, Unreachable) and await self._is_there()
                if not self.is_patient or own_errors == MAX_TRIES:
                    raise
                log.warning("The database did not respond, trying again: %s", error)
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


def _attempt(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return function(*args)
    except (OperationalError, InterfaceError) as error:
        is_lost = _is_of_connection(error)
        connection.close()  # it may be broken, and would fail every call after this one
        if is_lost:
            raise Unreachable(*error.args) from error
        raise


def _is_of_connection(error: Exception) -> bool:
    """Return True if the connection broke, False if the database refused the statement.

    On PostgreSQL the connection's own state does not tell: a transaction's end makes a new one.
    """
    state = getattr(error.__cause__, "sqlstate", "")
    if state == "":  # SQLite has none
        return connection.connection is None or not connection.is_usable()
    return state is None or state.startswith("08") or state in SHUT_DOWN


@transaction.atomic
def _begin_and_end() -> None:
    """Run a transaction that reads no table: on SQLite it takes the lock for writing."""
    clock.now()
