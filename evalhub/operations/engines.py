"""The database of this site, as backups copy and replace it; one class for each engine."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

from django.db import connection

from evalhub.operations.backup_file import Contents


class Engine(ABC):
    """`entry` is the database's file in a backup."""

    name: ClassVar[str]
    entry: ClassVar[str]

    @property
    @abstractmethod
    def database(self) -> str:
        """The database's name, which confirms that it may be replaced."""

    @property
    @abstractmethod
    def server(self) -> str:
        """Name and version of the engine."""

    @abstractmethod
    def dump(self, archive: ZipFile, folder: Path) -> Contents:
        """Write the database at one moment; `folder` has room for a copy."""

    @abstractmethod
    def load(self, archive: ZipFile, expected: Contents) -> None:
        """Replace the database by that of the archive, completely or not at all."""

    @abstractmethod
    def others(self) -> str:
        """Say who else has the database open; "" for nobody."""

    def is_empty(self) -> bool:
        return not connection.introspection.table_names()


def engine() -> Engine:
    from evalhub.operations.postgres import Postgres
    from evalhub.operations.sqlite import Sqlite

    return Sqlite() if connection.vendor == "sqlite" else Postgres()
