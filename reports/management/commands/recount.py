from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import QueryDict

from evalhub.display.formatting import counted
from evalhub.models import User
from evalhub.values.computed_cache import Recomputed, recomputing
from reports.documents.reading import Reading
from reports.registry import PAGES
from runs.figures.run_tallies import count_run, differences, uncounted
from runs.models import RunTally

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Count every tally of the reports again from the results, and compute every cached figure "
        "of each report, as it opens, again. Prints what differs and exits with 1; then counts the "
        "complete runs that have no tally yet, and has every figure that was computed from single "
        "results computed again."
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
        figures = recomputed_figures(replaces=not options["check"])
        made = 0 if options["check"] else self._count(wrong)
        self.stdout.write(f"Compared {counted(compared, 'run')}, counted {made} more.")
        if in_use:
            self.stdout.write(f"Left out {counted(in_use, 'run')}: somebody changes their results.")
        self.stdout.write(f"Compared {counted(len(figures.keys), 'cached figure')}.")
        for name in figures.different:
            self.stdout.write(f"cached figure {name} differs")
        if wrong or figures.different:
            act = "Run without --check to correct them." if options["check"] else "Corrected."
            different = [
                counted(n, what, many)
                for n, what, many in (
                    (len(wrong), "tally", "tallies"),
                    (len(figures.different), "cached figure", "cached figures"),
                )
                if n
            ]
            raise CommandError(f"{' and '.join(different)} differed. {act}")
        self.stdout.write("Every tally and every cached figure equals its recount.")

    def _count(self, wrong: list[int]) -> int:
        """Count the runs with a wrong tally and those without one; return the number of these.

        Results that were changed by hand can have the sums of before, so all get a new version.
        """
        for run in wrong:
            count_run(run)
        RunTally.objects.exclude(version=None).update(version=uuid4())
        return sum(map(count_run, list(uncounted().values_list("pk", flat=True))))


def recomputed_figures(*, replaces: bool) -> Recomputed:
    """Compare the cached figures of each report as it opens."""
    with recomputing(replaces=replaces) as found:
        for page in PAGES:
            page.build(page.form(QueryDict()).filters, Reading(User(is_superuser=True)))
    return found
