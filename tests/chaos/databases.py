"""The database of a rehearsal, on a server or in a file of its own, and how it fails."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests import postgres

ROOT = Path(__file__).parents[2]
NAME = "evalhub"
TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    f" WHERE datname = '{NAME}' AND pid <> pg_backend_pid()"
)
UNLIMITED = (
    "-c default_transaction_read_only=off -c statement_timeout=0 -c client_min_messages=error"
)
SETTINGS = ("synchronous_commit=on", "max_connections=40", "min_wal_size=32MB", "max_wal_size=48MB")
MB = 1024**2
TRIES = 20


class Database(ABC):
    """A database below `folder`, made as a copy of `template` if that is given."""

    def __init__(self, folder: Path, template: Path | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        if template:
            subprocess.run(["cp", "-a", str(template / "data"), str(self.data)], check=True)

    @property
    @abstractmethod
    def url(self) -> str: ...

    def start(self) -> None:
        """Start its server, if it has one."""

    def stop(self) -> None:
        """Stop its server."""

    @abstractmethod
    def down(self) -> AbstractContextManager[None]:
        """Take it away for the length of the block."""

    @contextmanager
    def full(self) -> Iterator[None]:
        """Leave no byte free on its disk for the length of the block."""
        filling = self.folder / "filling"
        with filling.open("ab", buffering=0) as file:
            for size in (MB, 4096):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
            yield
        filling.unlink()

    def migrate(self) -> None:
        """Make the template: an empty, migrated database."""
        environment = {**os.environ, "DATABASE_URL": self.url, "EVALHUB_DATA_DIR": str(self.folder)}
        command = [sys.executable, "manage.py", "migrate", "-v0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


class Sqlite(Database):
    @property
    def url(self) -> str:
        self.data.mkdir(exist_ok=True)
        return f"sqlite:///{self.data / 'evalhub.sqlite3'}"

    @contextmanager
    def connected(self) -> "Iterator[sqlite3.Connection]":
        file = self.data / "evalhub.sqlite3"
        with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as connection:
            yield connection

    @contextmanager
    def down(self) -> Iterator[None]:
        """Hold the lock for writing, which is as near as a file comes to being down."""
        with self.connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")

    @contextmanager
    def full(self) -> Iterator[None]:
        with self.connected() as connection:  # the log of writes gives back the room that it has
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with super().full():
            yield


class Postgres(Database):
    """A server that keeps its port, and when it is killed all that it has acknowledged."""

    def __init__(self, folder: Path, template: Path | None = None) -> None:
        os.chmod(folder, 0o755)
        super().__init__(folder, template)
        self.environment = dict(os.environ)
        self.port = postgres.free_port()
        self.programs = postgres.reachable_programs(template or folder)
        self.process: subprocess.Popen[bytes] | None = None
        if not template:
            command = postgres.initdb_command(self.programs, folder)
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, **postgres.identity(folder)
            )
            self.start()
            self.execute(f"CREATE DATABASE {NAME}")

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{NAME}"

    def start(self) -> None:
        log = self.folder / "postgres.log"
        options = [part for setting in SETTINGS for part in ("-c", setting)]
        command = [*postgres.postgres_command(self.programs, self.folder, self.port), *options]
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=output,
                **postgres.identity(self.folder),
            )
        postgres.wait_until_ready(self.process, self.port, log)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends all sessions first, SIGQUIT is `stop -m immediate`."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(postgres.READY_WITHIN_S)
            self.process = None

    @contextmanager
    def down(self) -> Iterator[None]:
        self.stop()
        yield
        self.start()

    def connect(self, name: str = "postgres") -> "psycopg.Connection[Any]":
        url = self.url.rpartition("/")[0] + f"/{name}"
        return psycopg.connect(url, autocommit=True, options=UNLIMITED)

    def execute(self, *statements: str) -> None:
        with self.connect() as connection:
            for statement in statements:
                connection.execute(statement.encode())

    @contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        """Change a setting of the whole server, for old connections too."""
        self.execute(f"ALTER SYSTEM SET {name} = '{value}'", "SELECT pg_reload_conf()", TERMINATE)
        yield
        self.execute(f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()")

    @contextmanager
    def used_up(self) -> Iterator[None]:
        """Take all connections, and end those of everybody else first."""
        held = []

        def take_all() -> None:
            with suppress(psycopg.OperationalError):
                while True:
                    held.append(self.connect())

        take_all()
        for _ in range(TRIES):  # a slot is free a moment after its session was ended
            held[0].execute(TERMINATE.encode())
            take_all()
            time.sleep(0.05)
        yield
        for connection in held:
            connection.close()

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Lock a table as a long ALTER TABLE does."""
        with self.connect(NAME) as connection, connection.transaction():
            connection.execute(f'LOCK TABLE "{table}" IN ACCESS EXCLUSIVE MODE'.encode())
            yield


ENGINES: dict[str, type[Database]] = {"sqlite": Sqlite, "postgres": Postgres}


def why_no_postgres() -> str:
    """Why there is no server here; "" if there is."""
    try:
        postgres.programs()
    except postgres.Unavailable as problem:
        return str(problem)
    return ""
