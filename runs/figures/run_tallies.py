"""Sums over a run's results, kept as rows, and the version of the results that they are of.

Nothing is ever added to or taken from a tally. Whatever changes a result of a run whose answers are
done calls `mark_changed` after it, in the same transaction; from then on the results are read in
the tally's place, until a worker counts the run again. While a run's answers are not done it has no
exact tally, so workers that save answers mark nothing.

A run is counted with all its results locked: what changes them comes before or after it as a whole.

The version is what anything computed from single results is cached under. It is drawn at random
with each count and taken away by the first change, so that

- it never comes back: who reads it just before a change and computes just after caches under a
  version that nobody asks for again. A digest of the results would come back with an override that
  is withdrawn, and a counter with a backup that is restored;
- a change costs one update that mostly finds nothing: a counter would make all workers that judge a
  run wait for one row, and a digest would read 10^7 results;
- where nobody has counted, for a minute after a change, nothing is cached and nothing can be stale.
"""

from collections.abc import Collection, Iterable, Sequence
from math import isclose
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Case, Count, Exists, F, FloatField, OuterRef, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce

from evalhub.models import BatchState, ItemState
from evalhub.values.id_in import IdIn
from runs.models import Outcome, Result, ResultScore, Run, RunTally, TallyRow

EACH_MINUTE = 50
"""Runs that a worker's reaper counts at a time: it has other things to look after."""

GROUPS = ("issue_id", "tag_set_id", "origin")
Sums = dict[tuple[Any, ...], dict[str, Any]]
"""The sums of `TALLIED` by group: the columns of `GROUPS`."""

CLOSE = 1e-9
"""Relative difference of sums of fractions: databases add in any order, SQLite as floats."""

ENDED = Q(state__in=[ItemState.DONE, ItemState.ERROR])
ANSWERS = ~Q(outcome=Outcome.ERROR)
_WEIGHTED = F("weight") * F("score")
# A negative similarity counts as 0. SQLite and PostgreSQL name the larger of two differently.
_SIMILAR = F("weight") * Case(When(similarity__gt=0, then=F("similarity")), default=0.0)
_HAS_SCORE = Q(score__isnull=False)
_JUDGED = F("weight") * F("judges_score")
_HAS_BOTH = Q(judges_score__isnull=False, similarity__isnull=False)


def _sum(value: Any, condition: Q | None = None) -> Coalesce:
    return Coalesce(Sum(value, filter=condition, output_field=FloatField()), 0.0)


OUTCOMES = tuple(Outcome.values)
LACKING = (Outcome.UNSCORED, Outcome.ERROR, Outcome.PENDING)

TALLIED: dict[str, Any] = {
    **{outcome: Count("pk", filter=Q(outcome=outcome)) for outcome in OUTCOMES},
    "lowest_passed": Count("pk", filter=Q(lowest_passed=True)),
    "highest_passed": Count("pk", filter=Q(highest_passed=True)),
    "with_score": Count("score"),
    "weights": _sum(F("weight"), _HAS_SCORE),
    "weighted_score": _sum(_WEIGHTED),
    "similar": Count("similarity"),
    "overridden": Count("pk", filter=Q(is_overridden=True)),
    "disputed": Count("pk", filter=Q(is_disputed=True)),
    "sum_in": Sum("input_tokens"),
    "sum_out": Sum("output_tokens"),
    "sum_cost": Sum("cost_usd"),
    "with_tokens": Count("output_tokens"),
    "with_cost": Count("cost_usd"),
    "answered": Count("pk", filter=ENDED),
    "answers_cost": Sum("cost_usd", filter=ANSWERS),
    "answers_with_cost": Count("cost_usd", filter=ANSWERS),
    "sum_latency": Sum("latency_ms", filter=ANSWERS),
    "with_latency": Count("latency_ms", filter=ANSWERS),
    "mixed_weight": _sum(F("weight"), _HAS_BOTH),
    "mixed": _sum(_JUDGED, _HAS_BOTH),
    "similarities": _sum(_SIMILAR, _HAS_BOTH),
}
"""What is added up over results, by the column of `TallyRow` that holds it."""

JUDGES = "judges_"
OF_JUDGES = (
    *OUTCOMES,
    "lowest_passed",
    "highest_passed",
    "with_score",
    "weights",
    "weighted_score",
)
"""Sums that there are twice: of results as they are, and of what judges alone said, so prefixed."""

TALLIED |= {
    **{JUDGES + one: Count("pk", filter=Q(judges_outcome=one)) for one in OUTCOMES},
    "judges_lowest_passed": Count("pk", filter=Q(judges_lowest_passed=True)),
    "judges_highest_passed": Count("pk", filter=Q(judges_highest_passed=True)),
    "judges_with_score": Count("judges_score"),
    "judges_weights": _sum(F("weight"), Q(judges_score__isnull=False)),
    "judges_weighted_score": _sum(_JUDGED),
}


def summed(
    runs: Iterable[Run | int],
    by: tuple[str, ...],
    sums: tuple[str, ...],
    which: Q | None = None,
) -> list[tuple[Any, ...]]:
    """Add up the results of runs, from exact tallies where there are any, else from results.

    Two queries, or three where some of the runs have an exact tally and others have not.

    Args:
        by: Columns to group by, the run's id first: it and those of `GROUPS`.
        sums: Names of `TALLIED`.
        which: Condition on columns of `GROUPS`.

    Returns:
        A tuple for each group, of its columns and its sums.
    """
    ids = {run if isinstance(run, int) else run.pk for run in runs}
    tallied = set(_versions(ids))
    found: list[tuple[Any, ...]] = []
    if tallied:
        rows = TallyRow.objects.filter(IdIn("run_id", tallied), which or Q()).order_by()
        if {*GROUPS} <= {*by}:  # each row is a group: nothing is to be added up
            found += rows.values_list(*by, *sums)
        else:
            found += rows.values_list(*by).annotate(**{f"all_{name}": Sum(name) for name in sums})
    if rest := ids - tallied:
        found += sums_over(Result.objects.filter(which or Q(), run__in=rest), by, sums)
    return found


def sums_over(
    results: QuerySet[Result], by: Sequence[str], sums: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Add up results from themselves, as `summed` does."""
    rows = results.order_by().values_list(*by)
    return list(rows.annotate(**{f"all_{name}": TALLIED[name] for name in sums}))


def _versions(runs: Collection[int]) -> dict[int, UUID]:
    rows = RunTally.objects.filter(IdIn("run_id", runs), version__isnull=False)
    return {run: version for run, version in rows.values_list("run_id", "version") if version}


# Versions ----------------------------------------------------------------------------------------


def versions_of(runs: Collection[int]) -> list[str] | None:
    """Return the version of the results of each run, in the order of their ids; one query.

    None where any has none, and so nothing that is computed from their results may be cached.
    """
    found = _versions(runs)
    return [str(found[run]) for run in sorted(found)] if found.keys() >= set(runs) else None


def mark_changed(runs: Collection[int]) -> None:
    """Take away tally and version of these runs; to be called after their results were changed."""
    RunTally.objects.filter(run__in=runs, version__isnull=False).update(version=None)


# Counting ----------------------------------------------------------------------------------------


def uncounted() -> QuerySet[Run]:
    """Return the complete runs without an exact tally, newest first."""
    exact = RunTally.objects.filter(run=OuterRef("pk"), version__isnull=False)
    return Run.objects.complete().filter(~Exists(exact)).order_by("-pk")


def count_due() -> None:
    """Count some of the complete runs that have no exact tally. Runs every minute."""
    for run in list(uncounted().values_list("pk", flat=True)[:EACH_MINUTE]):
        count_run(run)


def count_run(run: int) -> bool:
    """Count the results of a run; return False, and change nothing, where somebody changes them."""
    with transaction.atomic():
        sums = _recount(run)
        if sums is None:
            return False
        TallyRow.objects.filter(run=run).delete()
        TallyRow.objects.bulk_create(
            TallyRow(run_id=run, **dict(zip(GROUPS, group, strict=True)), **row)
            for group, row in sums.items()
        )
        lacking = sum(row[JUDGES + outcome] for row in sums.values() for outcome in LACKING)
        RunTally.objects.update_or_create(
            run_id=run, defaults={"version": uuid4(), "lacking": lacking, **_judgments(run)}
        )
    return True


def _judgments(run: int) -> dict[str, int]:
    """Return how many judgments the active judge run gave, and was expected to give."""
    scores = ResultScore.objects.filter(judge_run__run=run, judge_run__is_active=True)
    found = scores.aggregate(expected=Sum("expected"), answered=Sum("answered"))
    return {name: n or 0 for name, n in found.items()}


def _recount(run: int) -> Sums | None:
    """Lock the run with all its results, without waiting, and add them up.

    None: its answers are not done, or somebody changes one of its results just now.
    """
    row = Run.objects.select_for_update(of=("self",), no_key=True, skip_locked=True).filter(pk=run)
    if row.values_list("state", flat=True).first() != BatchState.DONE:
        return None
    results = Result.objects.filter(run=run)
    ended = results.filter(ENDED).order_by("pk")
    locked = ended.select_for_update(of=("self",), no_key=True, skip_locked=True)
    n_locked = len(locked.values_list("pk", flat=True))
    sums = _by_group(sums_over(results, GROUPS, tuple(TALLIED)))
    n = sum(row[outcome] for row in sums.values() for outcome in OUTCOMES)
    return sums if n == n_locked else None


def _by_group(rows: Iterable[tuple[Any, ...]]) -> Sums:
    n = len(GROUPS)
    return {row[:n]: dict(zip(TALLIED, row[n:], strict=True)) for row in rows}


# Proof -------------------------------------------------------------------------------------------


def differences(run: int) -> list[str] | None:
    """Return in words where an exact tally is not what the results add up to.

    None: somebody changes the run just now.
    """
    with transaction.atomic():
        counted = _recount(run)
        if counted is None:
            return None
        if not _versions([run]):
            return []
        tallied = _by_group(TallyRow.objects.filter(run=run).values_list(*GROUPS, *TALLIED))
    return [
        f"run {run}, issue {group[0]}, tag set {group[1]}, {group[2]}: {column} is {one}, "
        f"counted {other}"
        for group in sorted({*tallied, *counted})
        for column in TALLIED
        for one, other in [[sums.get(group, {}).get(column) for sums in (tallied, counted)]]
        if not _is_equal(one, other)
    ]


def _is_equal(one: Any, other: Any) -> bool:
    if None in (one, other):
        return one is other
    return isclose(one, other, rel_tol=0 if isinstance(one, int) else CLOSE)
