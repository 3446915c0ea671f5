from datetime import UTC, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date

from tests.sample_data.plan import REPEATS, Size
from tests.sample_data.workspace import NotEmpty, generate

RUNS, RESULTS, DETAILED = 40, 500, 10


class Command(BaseCommand):
    help = (
        "Fill an empty ledger with invented models, runs and results, to see how reports look at "
        "any size. The same arguments give the same ledger. All its models are labelled scripted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--runs", type=int, default=RUNS)
        parser.add_argument("--results", type=int, default=RESULTS, help="Of each run.")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument(
            "--until", help="The day of the last run, such as 2026-06-30; today unless given."
        )
        parser.add_argument(
            "--detailed",
            type=int,
            default=DETAILED,
            help="How many of the last runs keep each judgment and were looked at by people: of "
            "all runs that would be several million rows.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        size = Size(options["runs"], options["results"], options["seed"], until(options["until"]))
        if size.runs < 4 or size.results < 8 * REPEATS:
            raise CommandError(
                f"{size.runs} runs of {size.results} results are too few for what is told of "
                f"them: give at least 4 runs of {8 * REPEATS}."
            )
        try:
            invented = generate(size, detailed=options["detailed"], tell=self.tell)
        except NotEmpty as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write("")
        counts = ", ".join(f"{n:,} {name}" for name, n in invented.counts.items())
        self.stdout.write(f"Invented {counts}.")
        self.stdout.write("What its reports should find:")
        for story in invented.stories:
            self.stdout.write(f"- {story}")

    def tell(self, runs: int) -> None:
        if runs % 10 == 0:
            self.stdout.write(f"{runs} runs ...")
            self.stdout.flush()


def until(text: str | None) -> datetime:
    """Six in the morning, UTC, of the day that is named, or of today."""
    try:
        day = parse_date(text) if text else timezone.now().date()
    except ValueError:
        day = None
    if day is None:
        raise CommandError(f"--until {text} is not a day: write it as 2026-06-30.")
    return datetime.combine(day, time(6), tzinfo=UTC)
