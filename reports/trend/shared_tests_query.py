"""The tests that all runs of a trend have: lines of a test set that changed are drawn on these."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from runs.models import Result, Run


@dataclass(frozen=True)
class SharedTests:
    """How many tests all runs have in one revision, and which they have not."""

    n: int
    others: frozenset[int]


def shared_tests(runs: Iterable[Run]) -> SharedTests | None:
    """Return the tests that all of these runs have; None where they have the same, or share none.

    Runs of one fingerprint have the same tests; one query, where there are several.
    """
    samples = {run.suite_fingerprint: run.pk for run in runs}
    if len(samples) < 2:
        return None
    rows = Result.objects.filter(run__in=samples.values(), repeat=0).order_by()
    held = list(rows.values_list("test_id", "revision_id").annotate(n=Count("pk")))
    others = frozenset(test for test, _, n in held if n < len(samples))
    n = len({test for test, _, _ in held} - others)
    return SharedTests(n, others) if n and others else None
