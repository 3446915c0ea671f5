"""`manage.py export_weval SUITE…`: suites as blueprints."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from evalhub.admin_site.pages import row_number
from runs.importers.weval.blueprint.writer import write_blueprint
from runs.importers.weval.export import Exported, export, file_name
from runs.models import Suite


class Command(BaseCommand):
    help = "Write suites as blueprints of Weval that read back equal."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("suites", metavar="SUITE", nargs="+", help="A suite's name or number.")
        parser.add_argument(
            "--to",
            metavar="FOLDER",
            type=Path,
            help="Write files to this folder instead of the output.",
        )

    def handle(self, *args: Any, suites: list[str], to: Path | None, **options: Any) -> None:
        exported = [export(_suite(name)) for name in suites]
        for one in exported:
            if not one.blueprint.prompts:
                raise CommandError(f"“{one.blueprint.title}” has no active tests.")
        for one in exported:
            self._write(one, to)
            for note in one.notes:
                self.stderr.write(f"{one.blueprint.id}: {note}")

    def _write(self, exported: Exported, to: Path | None) -> None:
        text = write_blueprint(exported.blueprint)
        if to is None:
            self.stdout.write(text, ending="")
            return
        path = to / file_name(exported.blueprint)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        count = len(exported.blueprint.prompts)
        self.stdout.write(f"{path}: {count} test{'' if count == 1 else 's'}")


def _suite(name: str) -> Suite:
    """Return the suite of this name, or else of this number."""
    found = Suite.objects.filter(Q(name=name) | Q(pk=row_number(name)))
    suites = sorted(found, key=lambda suite: suite.name != name)
    if not suites:
        raise CommandError(f"There is no suite {name!r}.")
    return suites[0]
