from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from evalhub.operations.database_copy import CopyRefused, copy_from


class Command(BaseCommand):
    help = "Copy all rows of another database into this new one, such as SQLite to PostgreSQL."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="The other database: sqlite:////srv/data/evalhub.sqlite3.")

    def handle(self, *args: Any, url: str, **options: Any) -> None:
        try:
            copied = copy_from(url, self.stdout.write)
        except (CopyRefused, DatabaseError) as refused:
            raise CommandError(f"Nothing was copied. {refused}") from refused
        self.stdout.write(f"Copied {copied} rows.")
