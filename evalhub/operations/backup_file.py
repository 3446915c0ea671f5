"""A backup as one file: a ZIP archive of a description, the database, and unsaved replies.

`database.dump` is what `pg_dump --format=custom` wrote; `database.sqlite3` is a SQLite database.
"""

import json
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.apps import apps
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from evalhub.display.formatting import counted
from evalhub.work.database import known_migrations

DESCRIPTION = "backup.json"
REPLIES = "unsaved_replies"
"""Folder in a backup with the files of `evalhub.work.unsaved_replies`."""


class BackupError(Exception):
    """A backup cannot be made or restored; the message says why and what to do."""


@dataclass(frozen=True)
class Contents:
    """A database at one moment: its migrations as "app.name", and its rows by table."""

    migrations: list[str]
    rows: dict[str, int]


@dataclass(frozen=True)
class Description:
    """The content and origin of a backup.

    `taken_at` is by the database's clock, and not before the content's moment.
    """

    evalhub: str
    engine: str
    server: str
    taken_at: datetime
    contents: Contents

    def __str__(self) -> str:
        when = f"{self.taken_at:%Y-%m-%d %H:%M} UTC"
        migrations = counted(len(self.contents.migrations), "migration")
        made_by = f"EvalHub {self.evalhub}, {self.server}, {migrations}"
        return f"{when}, {made_by}; {self.summary()}"

    def summary(self) -> str:
        """Count the main tables' rows, such as "12 issues, 300 calls"."""
        named = [apps.get_model(label)._meta for label in (*settings.SEARCHED, "evalhub.Call")]
        counts = ((self.contents.rows.get(meta.db_table, 0), meta) for meta in named)
        found = [
            counted(n, str(meta.verbose_name), str(meta.verbose_name_plural))
            for n, meta in counts
            if n
        ]
        return ", ".join(found) or "no content"

    def unknown_migrations(self) -> list[str]:
        """Return the migrations that this code does not have: newer code made the backup."""
        known = {f"{app}.{name}" for app, name in known_migrations()}
        return sorted(set(self.contents.migrations) - known)

    def to_json(self) -> str:
        return json.dumps(asdict(self) | {"taken_at": self.taken_at.isoformat()}, indent=1)


def read_contents(cursor: CursorWrapper | Any, tables: Collection[str]) -> Contents:
    cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
    migrations = [f"{app}.{name}" for app, name in cursor.fetchall()]
    rows = {}
    for table in sorted(tables):
        cursor.execute(f'SELECT count(*) FROM "{table}"')
        rows[table] = cursor.fetchone()[0]
    return Contents(migrations, rows)


def read_description(archive: ZipFile) -> Description:
    found = json.loads(archive.read(DESCRIPTION))
    found["taken_at"] = datetime.fromisoformat(found["taken_at"])
    return Description(**found | {"contents": Contents(**found["contents"])})


@contextmanager
def opened(path: Path) -> Iterator[tuple[ZipFile, Description]]:
    """Open a backup, with every byte checked.

    Raises:
        BackupError: It cannot be read, is damaged, or is none.
    """
    try:
        archive = ZipFile(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    except BadZipFile as error:
        raise BackupError(f"{path} is no backup of EvalHub, or incomplete.") from error
    with archive:
        try:
            damaged = archive.testzip()
            description = read_description(archive)
        except (BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError) as error:
            raise BackupError(f"{path} is no backup of EvalHub, or damaged: {error}.") from error
        if damaged:
            raise BackupError(f"{path} is damaged: {damaged} has another checksum.")
        yield archive, description
