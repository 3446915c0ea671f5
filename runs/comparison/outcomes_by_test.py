"""The judges' outcomes of runs, test by test."""

from collections.abc import Collection

from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Coalesce

from runs.comparison.tested_rule import Tested
from runs.models import Outcome, Result

GROUPS = ("run_id", "revision_id", "test_id", "issue_id", "tag_set_id", "weight")
SUMS = {
    "result_id": Min("pk"),
    "n": Count("pk"),
    "n_passed": Count("pk", filter=Q(judges_outcome=Outcome.PASSED)),
    "n_failed": Count("pk", filter=Q(judges_outcome=Outcome.FAILED)),
    "n_error": Count("pk", filter=Q(judges_outcome=Outcome.ERROR)),
    "n_unscored": Count("pk", filter=Q(judges_outcome=Outcome.UNSCORED)),
    "n_lowest": Count("pk", filter=Q(judges_lowest_passed=True)),
    "n_highest": Count("pk", filter=Q(judges_highest_passed=True)),
    "n_scored": Count("judges_score"),
    "score_sum": Coalesce(Sum("judges_score"), 0.0),
    "n_overridden": Count("pk", filter=Q(is_overridden=True)),
}


def outcomes_in(
    runs: Collection[int], *, revisions: Collection[int] | None = None
) -> dict[int, list[Tested]]:
    """Return the tests of each run, by test id; one query. `revisions` None: all."""
    rows = Result.objects.filter(run__in=runs).order_by("test_id")
    if revisions is not None:
        rows = rows.filter(revision__in=revisions)
    counted = rows.values(*GROUPS).annotate(**SUMS)
    tests: dict[int, list[Tested]] = {run: [] for run in runs}
    for run, *tested in counted.values_list(*GROUPS, *SUMS):
        tests[run].append(Tested._make(tested))
    return tests
