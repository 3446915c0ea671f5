from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.display.formatting import counted
from evalhub.operations.backup_file import BackupError, Description
from evalhub.operations.engines import engine
from evalhub.operations.restore import restore

AFTERWARDS = (
    "Calls made since the backup will be made, and paid for, again. Users, passwords and tokens "
    "are those of the backup: revoke again what was revoked since."
)


class Command(BaseCommand):
    help = "Restore a backup in an empty database, or with --replace in place of its content."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="A file that manage.py backup wrote.")
        parser.add_argument(
            "--replace", action="store_true", help="Lose what the database holds now."
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="Replace it although workers or others have it open.",
        )
        parser.add_argument(
            "--no-input", action="store_false", dest="ask", help="Do not ask for confirmation."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        def confirm(description: Description) -> None:
            self.stdout.write(f"{options['file']}: {description}.")
            if options["ask"] and not engine().is_empty():
                ask(engine().database)

        try:
            restored = restore(
                options["file"],
                replace=options["replace"],
                force=options["force"],
                confirm=confirm,
            )
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored in {engine().database}.")
        if restored.released:
            items = counted(restored.released, "item")
            self.stdout.write(f"{items} in progress at the time: workers start them again.")
        if restored.replies:
            files = counted(restored.replies, "file")
            self.stdout.write(f"{files} of unsaved replies: the next worker takes them in.")
        self.stdout.write(AFTERWARDS)


def ask(database: str) -> None:
    try:
        typed = input(f"Type {database} to replace all that it holds now: ")
    except EOFError:  # there is no terminal
        typed = ""
    if typed.strip() != database:
        raise CommandError(f"{typed!r} is not {database}: nothing was changed.")
