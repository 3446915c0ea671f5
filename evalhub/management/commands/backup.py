from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from evalhub.operations.backup import write_backup
from evalhub.operations.backup_file import BackupError
from evalhub.operations.engines import engine

KEPT_APART = (
    "It holds neither EVALHUB_SECRET_KEY nor keys of providers: keep the environment apart. It "
    "holds password hashes and sealed texts: keep it as safe as the database."
)


class Command(BaseCommand):
    help = "Write the database, and replies that could not be saved, to a file. All may run on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="The file to write.")
        parser.add_argument(
            "--overwrite", action="store_true", help="Replace the file if there is one."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            description = write_backup(file, overwrite=options["overwrite"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        size = filesizeformat(file.stat().st_size).replace("\xa0", " ")
        self.stdout.write(f"Backed up {engine().database} to {file} ({size}): {description}.")
        self.stdout.write(KEPT_APART)
