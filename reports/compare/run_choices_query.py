"""Runs that the reader can choose to compare."""

from collections.abc import Collection, Sequence

from django.db.models import Case, Value, When

from reports.queries.run_names import saying
from runs.models import Run

SHOWN = 25
"""Runs offered at a time; a search finds the others."""

FIELDS = ("label", "model_name", "release", "created_at", "suite_id")


def offered(search: str, *, suites: Collection[int], without: Sequence[Run]) -> list[Run]:
    """Return runs that match the search: those of the given suites first, then newest first."""
    wanted = saying(search)
    near = Case(When(suite__in=suites, then=Value(0)), default=Value(1))
    runs = Run.objects.filter(wanted).exclude(pk__in=[run.pk for run in without])
    shown = runs.select_related("suite").only(*FIELDS, "suite__name")
    return list(shown.order_by(near, "-pk")[:SHOWN])
