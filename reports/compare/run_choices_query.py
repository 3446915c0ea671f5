"""Which runs there are to compare, and which of them go together without being told."""

from collections.abc import Collection, Sequence

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from evalhub.models import BatchState
from reports.queries.run_names import saying
from runs.models import JudgeRun, Run

SHOWN = 25
"""Runs that are offered at a time; a search finds the others."""


def done() -> QuerySet[Run]:
    """Runs that are answered and judged, newest first."""
    unfinished = JudgeRun.objects.filter(run=OuterRef("pk"), is_active=True).exclude(
        state=BatchState.DONE
    )
    runs = Run.objects.filter(~Exists(unfinished), state=BatchState.DONE)
    return runs.select_related("suite").order_by("-pk")


def opponent_of(run: Run) -> Run | None:
    """What the run is compared with unless told otherwise; None: there is nothing.

    The baseline of its suite; without one, or for the baseline itself, the run before it.
    """
    suite = run.suite
    if suite is None:
        return None
    if suite.baseline_id and suite.baseline_id != run.pk:
        return Run.objects.select_related("suite").get(pk=suite.baseline_id)
    return before(run)


def before(run: Run) -> Run | None:
    """The last run of the same suite before this one; None where it is the first.

    One of the same variant goes before those of others.
    """
    if run.suite_id is None:
        return None
    same_variant = Case(When(variant_key=run.variant_key, then=Value(0)), default=Value(1))
    earlier = done().filter(suite=run.suite_id, pk__lt=run.pk)
    return earlier.order_by(same_variant, "-pk").first()


def latest_pair() -> tuple[Run, Run] | None:
    """The latest run that can be compared, after what it is compared with.

    None where no run of a suite has a baseline or another run before it.
    """
    earlier = done().filter(suite=OuterRef("suite"), pk__lt=OuterRef("pk"))
    has_baseline = Q(suite__baseline__isnull=False) & ~Q(suite__baseline=F("pk"))
    run = done().filter(has_baseline | Exists(earlier)).first()
    against = opponent_of(run) if run else None
    return (against, run) if run and against else None


def offered(search: str, *, suites: Collection[int], without: Sequence[Run]) -> list[Run]:
    """Runs to choose from, of which `saying` finds the words.

    Those of the given suites come first, newest first; at most SHOWN.
    """
    wanted = saying(search)
    near = Case(When(suite__in=suites, then=Value(0)), default=Value(1))
    runs = Run.objects.filter(wanted).exclude(pk__in=[run.pk for run in without])
    return list(runs.select_related("suite").order_by(near, "-pk")[:SHOWN])
