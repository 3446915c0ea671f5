"""Restoring a backup, so that workers resume exactly what it lacks."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from django.core.management import call_command
from django.db import DatabaseError

from evalhub.display.formatting import counted, few
from evalhub.operations.backup_file import REPLIES, BackupError, Description, opened
from evalhub.operations.engines import engine
from evalhub.work import unsaved_replies
from evalhub.work.kinds import kinds
from evalhub.work.leases import sign_off, workers_alive
from evalhub.work.models import LEASE_S, ItemState, Worker


class Restored(NamedTuple):
    """A finished restore. `released` items were in progress and wait again."""

    released: int
    replies: int


def check(description: Description, *, replace: bool, force: bool = False) -> None:
    """Raise BackupError if this backup cannot be restored in this database.

    Args:
        force: Replace it although somebody is at work on it, who would go on with what was
            restored, and do again what has been done since.
    """
    database = engine()
    if description.engine != database.name:
        raise BackupError(
            f"The backup is of {description.server}, and this database is {database.server}. "
            "Restore it where DATABASE_URL names a database of the same engine."
        )
    if unknown := description.unknown_migrations():
        raise BackupError(
            f"The backup was made by newer code, EvalHub {description.evalhub}: this one does not "
            f"know {few(unknown, most=3)}. Install that version first."
        )
    if database.is_empty():
        return
    if not replace:
        raise BackupError(
            f"The database {database.database} is not empty. Restore in a new one, or add "
            "--replace to lose what it holds."
        )
    if force:
        return
    stop = "Stop the web server and the workers, or add --force"
    if beating := _workers():
        raise BackupError(
            f"{counted(beating, 'worker')} at work on {database.database}. {stop}; a worker that "
            f"was killed counts for {LEASE_S:.0f} s."
        )
    if others := database.others():
        raise BackupError(f"{database.database} is in use by {others}. {stop}.")


def restore(
    path: Path,
    *,
    replace: bool = False,
    force: bool = False,
    confirm: Callable[[Description], object] = str,
) -> Restored:
    """Restore a backup, migrate it to this code, and release what was in progress.

    Args:
        confirm: Called once the backup was found to fit; it raises where it is not wanted.

    Raises:
        BackupError: It cannot be restored. The database is as it was, unless the message says
            otherwise.
    """
    with opened(path) as (archive, description):
        try:
            check(description, replace=replace, force=force)
            confirm(description)
            engine().load(archive, description.contents)
        except DatabaseError as error:
            raise BackupError(f"The database cannot be written: {error}") from error
        replies = _restore_replies(archive)
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise BackupError(
            f"The backup is restored, but cannot be migrated to this code: {error}"
        ) from error
    return Restored(release(description.taken_at), replies)


def release(taken_at: datetime) -> int:
    """Release the items of the workers that ran when the backup was taken; return their number."""
    workers = Worker.objects.filter(stopped_at=None, beat_at__lte=taken_at)
    held = [kind.items().filter(state=ItemState.PENDING, worker__in=workers) for kind in kinds()]
    released = sum(items.count() for items in held)
    for worker in workers:
        sign_off(worker, {})
    return released


def _workers() -> int:
    try:
        return workers_alive()
    except DatabaseError:
        return 0  # the tables are of another version, or of another program


def _restore_replies(archive: ZipFile) -> int:
    """Put unsaved replies back, for the next worker that starts; return their number."""
    names = [name for name in archive.namelist() if name.startswith(f"{REPLIES}/")]
    folder = unsaved_replies.folder()
    for name in names:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / Path(name).name).write_bytes(archive.read(name))
    return len(names)
