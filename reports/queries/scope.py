"""Which runs a page is about: the complete ones of one suite."""

from dataclasses import dataclass

from django.db.models import QuerySet

from runs.models import Run, Suite

NO_SUITE = "none"
"""Chosen instead of a suite: runs that belong to none."""

Choice = Suite | str | None
"""A suite, `NO_SUITE`, or None: that of the newest complete run."""


@dataclass(frozen=True)
class Scope:
    """`runs` are those of `suite` that are complete; `all_runs` are the others too."""

    suite: Suite | None
    runs: QuerySet[Run]
    all_runs: QuerySet[Run]

    @property
    def name(self) -> str:
        return f"the suite “{self.suite}”" if self.suite else "no suite"


def scope_of(chosen: Choice) -> Scope:
    """The runs of the suite that was chosen; one query where the newest run decides, else none."""
    if isinstance(chosen, Suite):
        suite: Suite | None = chosen
    else:
        suite = None if chosen == NO_SUITE else newest_suite()
    runs = Run.objects.complete()
    return Scope(suite, runs.filter(suite=suite), Run.objects.filter(suite=suite))


def newest_suite() -> Suite | None:
    """The suite of the newest complete run; None where that has none, or there is no run."""
    run = Run.objects.complete().select_related("suite").order_by("-created_at", "-pk").first()
    return run.suite if run else None
