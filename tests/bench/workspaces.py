"""Invented ledgers to measure on, kept between benches until what makes them changes."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests import postgres
from tests.bench.copied_runs import copy_runs

ROOT = Path(__file__).parents[2]
KEPT = Path(tempfile.gettempdir()) / f"evalhub-bench-{os.getuid()}"
MADE_OF = ("*/migrations/*.py", "tests/sample_data/*.py")
UNTIL = "2026-06-30"
DIGEST = 12


@dataclass(frozen=True)
class Workspace:
    """An engine, and how much is invented on it. On PostgreSQL, `copies` of all runs are added."""

    engine: str
    runs: int
    results: int
    copies: int = 0

    @property
    def title(self) -> str:
        return f"{self.engine}, {self.runs * (1 + self.copies)} runs × {self.results:,} results"

    @property
    def size(self) -> int:
        return self.runs * (1 + self.copies) * self.results

    @property
    def arguments(self) -> list[str]:
        sizes = ["--runs", str(self.runs), "--results", str(self.results)]
        return ["-m", "tests.sample_data", *sizes, "--seed", "1", "--until", UNTIL]

    @property
    def name(self) -> str:
        """Of its folder, before what its content depends on."""
        times = f"{1 + self.copies}x-" if self.copies else ""
        return f"{self.engine.lower()}-{self.runs}-{self.results}-{times}"


WARM = Workspace("SQLite", 30, 100)
"""The bounds of warm pages were measured on it; what grows with data is bounded on `LARGE`."""
SMALL = Workspace("SQLite", 130, 80)
LARGE = (Workspace("SQLite", 200, 500), Workspace("PostgreSQL", 200, 5000))


@contextmanager
def kept(ledger: Workspace) -> Iterator[dict[str, str]]:
    """The environment of a process that reads this ledger; it is invented where there is none."""
    folder = folder_of(ledger)
    done = folder / "done"
    if not done.exists():
        for outdated in KEPT.glob(f"{ledger.name}*"):
            shutil.rmtree(outdated)
        folder.mkdir(parents=True)
    with _database(ledger, folder) as url:
        environment = _environment(folder, url)
        if not done.exists():
            sys.stderr.write(f"Inventing a ledger: {ledger.title} ...\n")
            for arguments in (["manage.py", "migrate", "-v0"], ledger.arguments):
                command = [sys.executable, *arguments]
                subprocess.run(
                    command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL
                )
            if ledger.copies:
                copy_runs(url, ledger.copies)
            done.touch()
        yield environment


def folder_of(ledger: Workspace) -> Path:
    content = hashlib.sha256(" ".join(ledger.arguments).encode())
    for file in sorted(file for pattern in MADE_OF for file in ROOT.glob(pattern)):
        content.update(file.read_bytes())
    return KEPT / f"{ledger.name}{content.hexdigest()[:DIGEST]}"


@contextmanager
def _database(ledger: Workspace, folder: Path) -> Iterator[str]:
    if ledger.engine == "SQLite":
        yield f"sqlite:///{folder / 'ledger.sqlite3'}"
        return
    with postgres.server(folder) as url:
        with psycopg.connect(url.rpartition("/")[0] + "/postgres", autocommit=True) as connection:
            names = [name for (name,) in connection.execute("SELECT datname FROM pg_database")]
            if "evalhub" not in names:
                connection.execute("CREATE DATABASE evalhub")
        yield url


def _environment(folder: Path, url: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("EVALHUB_")}
    return ours | {
        "DJANGO_SETTINGS_MODULE": "evalhub.settings",
        "DATABASE_URL": url,
        "EVALHUB_DATA_DIR": str(folder),
        "EVALHUB_SECRET_KEY": "known to everyone, for a bench only, but long enough",
        "EVALHUB_LOG_LEVEL": "WARNING",
    }
