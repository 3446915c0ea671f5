"""Scope of a report page: the conclusive runs of one suite."""

from dataclasses import dataclass

from runs.models import Run, Suite
from runs.models.run import RunQuerySet

NO_SUITE = "none"
"""Choice of the runs without a suite."""

Choice = Suite | str | None
"""A suite, `NO_SUITE`, or None for the suite of the newest complete run."""


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
    """Return the scope of this choice; one query if the choice is None, else no query."""
    if isinstance(chosen, Suite):
        suite: Suite | None = chosen
    else:
        suite = None if chosen == NO_SUITE else newest_suite()
    all_runs = Run.objects.filter(suite=suite)
    return Scope(suite, all_runs.conclusive(), all_runs)


def newest_suite() -> Suite | None:
    """Return the suite of the newest complete run; None without a suite or a run."""
    run = Run.objects.complete().select_related("suite").order_by("-created_at", "-pk").first()
    return run.suite if run else None
