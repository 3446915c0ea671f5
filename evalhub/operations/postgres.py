import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZipFile

from django.db import OperationalError, connection, transaction
from django.db.backends.postgresql.client import DatabaseClient

from evalhub.display.formatting import counted
from evalhub.operations.backup_file import BackupError, Contents, read_contents
from evalhub.operations.engines import Engine

ASIDE = "evalhub_before_restore"
"""The schema in which the replaced tables wait until the restored ones are complete."""

PATIENCE_S = 10


class Postgres(Engine):
    """Copies by pg_dump and pg_restore, which must be on PATH and no older than the server."""

    name = "postgres"
    entry = "database.dump"

    @property
    def database(self) -> str:
        with connection.cursor() as cursor:
            return str(cursor.execute("SELECT current_database()").fetchone()[0])

    @property
    def server(self) -> str:
        with connection.cursor():
            return f"PostgreSQL {major()}"

    def dump(self, archive: ZipFile, folder: Path) -> Contents:
        program = find("pg_dump")
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            snapshot = cursor.execute("SELECT pg_export_snapshot()").fetchone()[0]
            found = read_contents(cursor, connection.introspection.table_names(cursor))
            options = ["--format=custom", "--no-owner", "--no-privileges"]
            command = [program, *options, f"--snapshot={snapshot}", "--dbname"]
            with archive.open(self.entry, "w", force_zip64=True) as target:
                run(command, output=target)
        return found

    def others(self) -> str:
        with connection.cursor() as cursor:
            (n,) = cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchone()
        return counted(n, "other connection") if n else ""

    def load(self, archive: ZipFile, expected: Contents) -> None:
        program = find("pg_restore")
        with replaced_tables(), archive.open(self.entry) as source:
            options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
            run([program, *options, "--dbname"], given=source)
            with connection.cursor() as cursor:
                found = read_contents(cursor, connection.introspection.table_names(cursor))
            if found != expected:
                raise BackupError("What was restored is not what the backup says.")


def major() -> int:
    return int(connection.pg_version) // 10_000  # type: ignore[attr-defined]


def find(name: str) -> str:
    """Return the path of a client program that can read and write for this server."""
    connection.ensure_connection()
    path = shutil.which(name)
    install = (
        f"Install PostgreSQL's client programs, version {major()} or newer, or put their folder "
        "in front of PATH."
    )
    if path is None:
        raise BackupError(f"There is no {name} on PATH. {install}")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\d+", said)
    if version is None or int(version[0]) < major():
        raise BackupError(f"{path} ({said.strip()}) is older than the server. {install}")
    return path


def run(
    command: Sequence[str], *, output: IO[bytes] | None = None, given: IO[bytes] | None = None
) -> None:
    """Run a client program on this database, connected as Django is.

    Args:
        command: It ends with the option for the database.
        output: Takes what it writes.
        given: What it reads.
    """
    connected = connection.settings_dict | {"NAME": Postgres().database}
    (_, *options, name), environment = DatabaseClient.settings_to_cmd_args_env(connected, [])
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, name, *options],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE if output else subprocess.DEVNULL,
            stderr=errors,
        )
        with process:
            if output and process.stdout:
                shutil.copyfileobj(process.stdout, output)
            if given and process.stdin:
                with suppress(BrokenPipeError), process.stdin:
                    shutil.copyfileobj(given, process.stdin)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    if process.returncode:
        raise BackupError(f"{Path(command[0]).name} failed: {said or process.returncode}")


@contextmanager
def replaced_tables() -> Iterator[None]:
    """Set the tables aside for the length of the block; drop them after it, or put them back.

    Views go with the tables that they read.
    """
    schema = current_schema()
    tables = connection.introspection.table_names(include_views=True)
    try:
        set_aside(tables, schema)
    except OperationalError as error:
        raise BackupError(
            f"The database is in use ({error}). Stop the web server and the workers."
        ) from error
    try:
        yield
    except BaseException:
        put_back(tables, schema)
        raise
    with connection.cursor() as cursor:
        cursor.execute(f'DROP SCHEMA IF EXISTS "{ASIDE}" CASCADE')


def current_schema() -> str:
    with connection.cursor() as cursor:
        return str(cursor.execute("SELECT current_schema()").fetchone()[0])


@transaction.atomic
def set_aside(tables: Sequence[str], schema: str) -> None:
    """Move them to a schema of their own, unless a restore that was killed already has."""
    if not tables:
        return
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE_S}s'")
        cursor.execute(f'DROP SCHEMA IF EXISTS "{ASIDE}" CASCADE')
        cursor.execute(f'CREATE SCHEMA "{ASIDE}"')
        for table in tables:
            cursor.execute(f'ALTER TABLE "{schema}"."{table}" SET SCHEMA "{ASIDE}"')


@transaction.atomic
def put_back(tables: Sequence[str], schema: str) -> None:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'DROP TABLE "{schema}"."{table}" CASCADE')
        for table in tables:
            cursor.execute(f'ALTER TABLE "{ASIDE}"."{table}" SET SCHEMA "{schema}"')
        if tables:
            cursor.execute(f'DROP SCHEMA "{ASIDE}"')
