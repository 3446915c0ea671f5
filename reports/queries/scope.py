"""Scope of a report page: the conclusive runs of one suite."""

from dataclasses import dataclass

from runs.comparison.release_order import newest_first
from runs.models import Run, Suite
from runs.models.run_queries import RunQuerySet

NO_SUITE = "none"
"""Choice of the runs without a suite."""

Choice = Suite | str | None
"""A suite, `NO_SUITE`, or None for `newest_suite`."""

RECENT = 50
"""Last runs among which the suite that reports open on is looked for."""


@dataclass(frozen=True)
class Scope:
    """A suite, its conclusive runs (`runs`) and all of its runs (`all_runs`)."""

    suite: Suite | None
    runs: RunQuerySet
    all_runs: RunQuerySet

    @property
    def name(self) -> str:
        return f"the suite “{self.suite}”" if self.suite else "no suite"


def scope_of(chosen: Choice) -> Scope:
    """Return the scope of this choice; four queries if the choice is None, else none."""
    if isinstance(chosen, Suite):
        suite: Suite | None = chosen
    else:
        suite = None if chosen == NO_SUITE else newest_suite()
    all_runs = Run.objects.filter(suite=suite)
    return Scope(suite, all_runs.conclusive(), all_runs)


def newest_suite() -> Suite | None:
    """Return the suite of the newest complete run that has others beside it; four queries.

    A report opens on it: a single run, or one of no suite, has nothing to compare. Where there is
    no such suite, it is that of the newest complete run; None without a suite or a run. The newest
    run is one of the highest release: a hotfix of an older one leaves the page where it was.
    """
    last = Run.objects.complete().order_by("-created_at", "-pk")[:RECENT]
    runs = newest_first(Run.objects.filter(pk__in=list(last.values_list("pk", flat=True))))
    recent = [run.suite for run in runs]
    several = (suite for suite in recent if suite is not None and recent.count(suite) > 1)
    chosen = next(several, recent[0] if recent else None)
    return Suite.objects.get(pk=chosen) if chosen is not None else None
