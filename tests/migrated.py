"""The migrated database, made once for all test processes and copied by the others.

Migrations take each process a quarter of a minute. `tests.suite` names a folder, in which the first
process leaves a copy of its database, or word that the server has one.
"""

import fcntl
import os
import shutil
from pathlib import Path

from django.db import connection

FOLDER = "TEST_MIGRATED"
"""The variable that names the folder; where it is not set, everybody migrates."""

TEMPLATE = "test_evalhub_migrated"
"""What the copy is called on PostgreSQL."""


class Migrated:
    """The copy, for one process; from `find` to `leave` the others wait."""

    def __init__(self, folder: Path) -> None:
        self.copy = folder / connection.vendor
        self.lock = (folder / f"{connection.vendor}.lock").open("w")
        self.is_there = False

    def find(self) -> None:
        """Let the process's database be made from the copy if there is one."""
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.is_there = self.copy.exists()
        test = connection.settings_dict["TEST"]
        if self.is_there and connection.vendor == "sqlite":
            shutil.copy(self.copy, test["NAME"])
        elif self.is_there:
            test["TEMPLATE"] = TEMPLATE

    def leave(self) -> None:
        """Copy the process's database, which has just been made, for the others."""
        if not self.is_there:
            name = connection.settings_dict["NAME"]
            connection.close()
            if connection.vendor == "sqlite":
                shutil.copy(name, self.copy)
            else:
                with connection._nodb_cursor() as cursor:
                    cursor.execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}"')
                    cursor.execute(f'CREATE DATABASE "{TEMPLATE}" TEMPLATE "{name}"')
                self.copy.touch()
        self.lock.close()


def migrated() -> Migrated | None:
    folder = os.environ.get(FOLDER)
    return Migrated(Path(folder)) if folder else None
