from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.display.formatting import counted
from runs.figures.run_tallies import count_run, differences, uncounted
from runs.models import RunTally

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Count every tally of the reports again from the results. Prints what differs and exits "
        "with 1; then counts the complete runs that have no tally yet, and has every figure that "
        "was computed from single results computed again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="Compare only; write nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        compared, wrong, in_use = 0, [], 0
        for run in list(RunTally.objects.exclude(version=None).values_list("pk", flat=True)):
            found = differences(run)
            compared, in_use = compared + (found is not None), in_use + (found is None)
            if found:
                wrong.append(run)
                for one in found[:SHOWN]:
                    self.stdout.write(one)
                if len(found) > SHOWN:
                    self.stdout.write(f"run {run}: {len(found) - SHOWN} more differences")
        made = 0 if options["check"] else self._count(wrong)
        self.stdout.write(f"Compared {counted(compared, 'run')}, counted {made} more.")
        if in_use:
            self.stdout.write(f"Left out {counted(in_use, 'run')}: somebody changes their results.")
        if wrong:
            act = "Run without --check to correct them." if options["check"] else "Corrected."
            raise CommandError(f"{counted(len(wrong), 'tally', 'tallies')} differed. {act}")
        self.stdout.write("Every tally equals its recount.")

    def _count(self, wrong: list[int]) -> int:
        """Count the runs with a wrong tally and those without one; return the number of these.

        Results that were changed by hand can have the sums of before, so all get a new version.
        """
        for run in wrong:
            count_run(run)
        RunTally.objects.exclude(version=None).update(version=uuid4())
        return sum(map(count_run, list(uncounted().values_list("pk", flat=True))))
