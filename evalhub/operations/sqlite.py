import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

from django.db import connection

from evalhub.operations.backup_file import BackupError, Contents, read_contents
from evalhub.operations.engines import Engine

PATIENCE_S = 10.0
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


class Sqlite(Engine):
    """Copies by SQLite's online backup, which neither waits for writers nor stops them."""

    name = "sqlite"
    entry = "database.sqlite3"

    @property
    def file(self) -> Path:
        return Path(connection.settings_dict["NAME"])

    @property
    def database(self) -> str:
        return self.file.name

    @property
    def server(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    def dump(self, archive: ZipFile, folder: Path) -> Contents:
        with temporary(folder) as copy:
            with closing(sqlite3.connect(copy)) as target:
                live().backup(target)
                target.execute("PRAGMA journal_mode=DELETE")  # so that it is a single file
                found = contents_of(target)
            archive.write(copy, self.entry, ZIP_DEFLATED)
        return found

    def others(self) -> str:
        connection.close()
        with closing(sqlite3.connect(self.file, timeout=1)) as alone:
            try:  # only whoever is alone can leave the write-ahead log
                (mode,) = alone.execute("PRAGMA journal_mode=DELETE").fetchone()
            except sqlite3.OperationalError:
                mode = "wal"
        return "" if mode == "delete" else "another process"

    def load(self, archive: ZipFile, expected: Contents) -> None:
        with temporary(self.file.parent) as copy:
            with archive.open(self.entry) as source, copy.open("wb") as target:
                copyfileobj(source, target)
            with closing(sqlite3.connect(copy)) as source_:
                if contents_of(source_) != expected:
                    raise BackupError("The backup does not hold what it says. Take another.")
                try:
                    source_.backup(live(), progress=patience())
                except sqlite3.Error as error:
                    raise BackupError(f"{self.file} cannot be written: {error}.") from error
        connection.close()


def live() -> sqlite3.Connection:
    connection.ensure_connection()
    found: sqlite3.Connection = connection.connection
    return found


def patience() -> Callable[[int, int, int], None]:
    """Return a function that ends a copy if the target is still locked after 10 s."""
    deadline = time.monotonic() + PATIENCE_S

    def progress(status: int, remaining: int, total: int) -> None:
        if status != sqlite3.SQLITE_DONE and time.monotonic() > deadline:
            raise BackupError("The database is in use. Stop the web server and the workers.")

    return progress


def contents_of(database: sqlite3.Connection) -> Contents:
    return read_contents(database.cursor(), [name for (name,) in database.execute(TABLES)])


@contextmanager
def temporary(folder: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix=".backup-", dir=folder) as name:
        yield Path(name) / "database"
