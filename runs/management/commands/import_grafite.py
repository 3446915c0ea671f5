"""`manage.py import_grafite DIR`: GRAFITE data, all of it or nothing."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from runs.importers.grafite.importer import ImportRefused, import_grafite_data, read_folder
from runs.importers.grafite.records import Tally


class Command(BaseCommand):
    help = "Import issues, tests, labels and runs from the JSON files of GRAFITE."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument(
            "--dry-run", action="store_true", help="Preview the import; save nothing."
        )

    def handle(self, *args: Any, folder: Path, dry_run: bool, **options: Any) -> None:
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.")
        try:
            grafite_data = read_folder(folder)
        except ImportRefused as refused:
            count = len(refused.problems)
            raise CommandError(
                f"Nothing was imported: {count} problem{'' if count == 1 else 's'}:\n{refused}"
            ) from refused
        tallies = import_grafite_data(grafite_data, dry_run=dry_run)
        self.stdout.write(as_table(tallies))
        self.stdout.write(conclusion(tallies, dry_run))


def as_table(tallies: list[Tally]) -> str:
    table = Table("", "In the files", "New", "Here already")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, found, new in tallies:
        table.add_row(kind.capitalize(), str(found), str(new), str(found - new))
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def conclusion(tallies: list[Tally], dry_run: bool) -> str:
    if not any(tally.new for tally in tallies):
        return "Nothing was changed: everything was here already."
    if dry_run:
        return "Nothing was saved: this was a dry run."
    return "Imported. Missing fields become required when a row's state changes next."
