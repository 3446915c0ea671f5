"""Runs in the one order of releases."""

from django.db.models import QuerySet

from runs.comparison.opponent_rule import ReleasedRun
from runs.comparison.release_order_rule import ReleaseOrder, in_release_order
from runs.models import Release, Run

COLUMNS = (
    *("pk", "suite_id", "launch_id", "variant_key", "language_model_id", "language_model__family"),
    *("release", "created_at"),
)


def newest_first(runs: QuerySet[Run], order: ReleaseOrder | None = None) -> list[ReleasedRun]:
    """Return these runs, those of the highest release first; two queries, or one with the order."""
    rows = [ReleasedRun(*row) for row in runs.order_by().values_list(*COLUMNS)]
    return in_release_order(rows, order or Release.objects.in_order())[::-1]
