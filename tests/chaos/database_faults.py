"""Databases that are away, or that answer but refuse: each function makes one fault and ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from tests.chaos.databases import Postgres

if TYPE_CHECKING:
    from tests.chaos.site import Site

Fault = Callable[["Site"], None]


def server(site: Site) -> Postgres:
    return cast(Postgres, site.database)


def lasting(seconds: float, fault: Callable[[Site], AbstractContextManager[None]]) -> Fault:
    """A fault that is there for so many seconds."""

    def make(site: Site) -> None:
        with fault(site):
            time.sleep(seconds)
        site.ended_at = time.monotonic()
        site.expect_unfinished()

    return make


restart = lasting(0, lambda site: site.database.down())
down = lasting(45, lambda site: site.database.down())
used_up = lasting(25, lambda site: server(site).used_up())
read_only = lasting(8, lambda site: server(site).setting("default_transaction_read_only", "on"))
full = lasting(25, lambda site: site.database.full())
locked = lasting(30, lambda site: site.database.down())
statement_timeout = lasting(15, lambda site: server(site).setting("statement_timeout", "1ms"))
table_locked = lasting(40, lambda site: server(site).locked("runs_result"))
