"""Backups: all that a site is, but for its settings and secrets, which stay in the environment."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from zipfile import ZipFile

from django.db import DatabaseError

from evalhub import __version__
from evalhub.operations.backup_file import DESCRIPTION, REPLIES, BackupError, Description
from evalhub.operations.engines import engine
from evalhub.values import clock
from evalhub.work import unsaved_replies


def write_backup(path: Path, *, overwrite: bool = False) -> Description:
    """Write a backup, readable by its owner only. The site may be running.

    Raises:
        BackupError: There is such a file already, or the backup cannot be made or written.
    """
    if path.exists() and not overwrite:
        raise BackupError(f"{path} exists. Choose another name, or add --overwrite.")
    file = None
    try:
        if engine().is_empty():
            raise BackupError("The database has no tables: there is nothing to back up.")
        with NamedTemporaryFile(prefix=f".{path.name}-", dir=path.parent, delete=False) as file:
            with ZipFile(file, "w") as archive:
                description = _fill(archive, path.parent)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error}.") from error
    except DatabaseError as error:
        raise BackupError(f"The database cannot be read: {error}") from error
    finally:
        if file:
            Path(file.name).unlink(missing_ok=True)
    return description


def _fill(archive: ZipFile, folder: Path) -> Description:
    # Replies come first: one that a worker takes in meanwhile is in the database, too.
    for reply in sorted(unsaved_replies.folder().glob("*.jsonl")):
        with suppress(FileNotFoundError):
            archive.writestr(f"{REPLIES}/{reply.name}", reply.read_bytes())
    database = engine()
    contents = database.dump(archive, folder)
    description = Description(__version__, database.name, database.server, clock.now(), contents)
    archive.writestr(DESCRIPTION, description.to_json())
    return description
