import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evalhub.display.formatting import counted
from evalhub.operations.doctor import Level, findings


class Command(BaseCommand):
    help = "Say what is wrong with this installation and what to do. Exit 1: there is an error."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--models",
            action="store_true",
            help="Send each active model a short question, which may cost money.",
        )
        parser.add_argument("--json", action="store_true", help="Print a JSON list.")

    def handle(self, *args: Any, **options: Any) -> None:
        found = []
        for finding in findings(ask_models=options["models"]):
            found.append(finding)
            if not options["json"]:
                self.stdout.write(str(finding))
        levels = [finding.level for finding in found]
        errors = levels.count(Level.ERROR)
        if options["json"]:
            self.stdout.write(json.dumps([finding.to_json() for finding in found], indent=2))
        else:
            warnings = counted(levels.count(Level.WARNING), "warning")
            self.stdout.write(f"{counted(errors, 'error')}, {warnings}.")
        if errors:
            raise SystemExit(1)
