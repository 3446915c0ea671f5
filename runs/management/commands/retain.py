from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs.lifecycle.retention import due, remove


class Command(BaseCommand):
    help = "Remove the texts of answers and replies that are older than so many days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.EVALHUB_KEEP_TEXTS_DAYS,
            help="Days since the run ended (default: EVALHUB_KEEP_TEXTS_DAYS).",
        )
        parser.add_argument("--dry-run", action="store_true", help="Only count them.")

    def handle(self, *args: Any, days: int, dry_run: bool, **options: Any) -> None:
        if days < 1:
            raise CommandError(
                f"--days {days} would keep all texts: name at least 1 day, or set "
                "EVALHUB_KEEP_TEXTS_DAYS."
            )
        found = due(days) if dry_run else remove(days)
        verb = "Would remove" if dry_run else "Removed"
        self.stdout.write(f"{verb} {found.answers} answers and {found.replies} replies.")
