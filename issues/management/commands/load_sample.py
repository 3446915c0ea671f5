from typing import Any

from django.core.management.base import BaseCommand

from issues.sample_data import load_sample


class Command(BaseCommand):
    help = "Add the sample data: 20 issues with 3 tests each, and some feedback."

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = load_sample()
        self.stdout.write(
            f"Added {loaded.issues} issues, {loaded.tests} tests and {loaded.feedback} feedback "
            "items."
        )
