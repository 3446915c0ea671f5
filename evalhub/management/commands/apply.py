from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.operations.site_file import FileRefused, apply, read


class Command(BaseCommand):
    help = "Create and change models, juries, roles, users, tokens and webhooks as a file says."
    requires_migrations_checks = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="A YAML file: see docs/running.md.")
        parser.add_argument(
            "--dry-run", action="store_true", help="Only print what differs; change nothing."
        )

    def handle(self, *args: Any, file: Path, dry_run: bool, **options: Any) -> None:
        try:
            outcome = apply(read(file), dry_run=dry_run)
        except FileRefused as refused:
            problems = "\n".join(f"  {problem}" for problem in refused.problems)
            raise CommandError(f"Nothing was changed.\n{problems}") from refused
        for line in outcome.lines:
            self.stdout.write(line)
        done = "Nothing was changed (dry run)" if dry_run else "Applied"
        self.stdout.write(f"{done}. Equal already: {outcome.unchanged}.")
        for name, text in outcome.tokens.items():
            self.stdout.write(f"{name}: {text}  (shown only now)")
