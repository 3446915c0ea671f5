"""The table of faults. What is to be rehearsed is a row here and a small function beside it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tests import provider
from tests.chaos import database_faults as databases
from tests.chaos import process_faults as processes
from tests.chaos import provider_faults as providers
from tests.chaos.databases import why_no_postgres

if TYPE_CHECKING:
    from tests.chaos.site import Site

SQLITE, POSTGRES = ("sqlite",), ("postgres",)
DISK_MB = {"sqlite": 24, "postgres": 220}


@dataclass(frozen=True)
class Row:
    """A fault in the middle of a run.

    Attributes:
        fault: Makes the fault and ends it.
        start: Starts the processes before the launch.
        disk_mb: Size of the database's own disk by engine; {}: it has none.
        why_not: Why the fault cannot be made here; "" if it can.
        short: On which engines the row is among the kill tests.
    """

    name: str
    fault: Callable[[Site], None]
    engines: tuple[str, ...] = SQLITE + POSTGRES
    start: Callable[[Site], None] = processes.start_one
    disk_mb: Mapping[str, int] = field(default_factory=dict)
    why_not: Callable[[], str] = str
    short: tuple[str, ...] = ()

    def why_not_on(self, engine: str) -> str:
        """Why this row cannot run here; "" if it can."""
        missing = why_no_postgres() if engine == "postgres" else ""
        return missing or self.why_not()

    @property
    def before(self) -> tuple[str, ...]:
        """The command in front of the row's process: a disk of its own ends with it."""
        return ("unshare", "--mount") if self.disk_mb else ()


def refusal(*command: str) -> str:
    """What the machine says when it cannot run a command; "" if it can."""
    if shutil.which(command[0]) is None:
        return f"there is no program {command[0]}"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stderr.strip() or f"{command[0]} fails") if done.returncode else ""


def no_faketime() -> str:
    return "" if processes.faketime() else "there is no libfaketime (Debian's package faketime)"


MOUNT = ("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
ALL = (
    Row("worker-killed", processes.kill_worker, short=SQLITE),
    Row("idle-worker-killed", processes.nothing, start=processes.start_and_kill_idle),
    Row("parent-killed", processes.kill_parent, start=processes.start_two, short=POSTGRES),
    Row("site-killed", processes.kill_parent, start=processes.start_site),
    Row("all-killed", processes.kill_everything, start=processes.start_two),
    Row("stopped-beyond-lease", processes.stop_beyond_lease),
    Row("deploy", processes.deploy, start=processes.start_two, short=POSTGRES),
    Row("deploy-in-outage", processes.deploy_in_outage),
    Row("database-restarted", databases.restart, POSTGRES, short=POSTGRES),
    Row("database-down", databases.down, POSTGRES),
    Row("connections-used-up", databases.used_up, POSTGRES),
    Row("database-read-only", databases.read_only, POSTGRES),
    Row("statement-timeout", databases.statement_timeout, POSTGRES),
    Row("table-locked", databases.table_locked, POSTGRES),
    Row("database-locked", databases.locked, SQLITE),
    Row("disk-full", databases.full, disk_mb=DISK_MB, why_not=partial(refusal, *MOUNT)),
    Row("provider-500", providers.failing(provider.SERVER_ERROR)),
    Row("provider-429", providers.failing(providers.WAIT_8_S)),
    Row("provider-hanging", providers.failing(provider.HANG)),
    Row("provider-truncated", providers.failing(provider.TRUNCATED)),
    Row("provider-reset", providers.failing(provider.RESET)),
    Row(
        "provider-certificate",
        providers.untrusted,
        start=providers.start_with_tls,
        why_not=partial(refusal, "openssl", "version"),
    ),
    Row("nullable-column", processes.add_nullable),
    Row("unknown-column", processes.add_unknown),
    Row("clock-moved", processes.move_clock, start=processes.start_with_clock, why_not=no_faketime),
    Row(
        "containers-of-one-name",
        processes.kill_in_container,
        start=processes.start_containers,
        why_not=partial(refusal, *processes.CONTAINER, "true"),
    ),
)
ROWS = {row.name: row for row in ALL}
