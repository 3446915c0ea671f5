import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests import postgres


@pytest.fixture(autouse=True)
def _client_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """pg_dump and pg_restore of the server's own version."""
    if connection.vendor == "postgresql":
        monkeypatch.setenv("PATH", f"{postgres.programs()}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def data(settings: Any, tmp_path: Path) -> Path:
    folder = settings.DATA_DIR = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def empty_database(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """The name of a new database without tables."""
    if connection.vendor == "sqlite":
        yield str(tmp_path / "other.sqlite3")
        return
    name = f"{connection.settings_dict['NAME']}_other"
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}"')
    yield name
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Use another database of the same server for the length of the block."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
