"""Sums over a run's results, kept as rows: `TallyRow`, exact while `RunTally.is_exact`.

Nothing is ever added to or taken from a tally. Whatever changes a result of a run whose answers are
done calls `mark_changed` after it, in the same transaction; from then on the results are read in
the tally's place, until a worker counts the run again. While a run's answers are not done it has no
exact tally, so workers that save answers mark nothing.

A run is counted with all its results locked: what changes them comes before or after it as a whole.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from math import isclose
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Case, Count, Exists, F, FloatField, OuterRef, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce

from evalhub.fixed_query import fixed_query
from evalhub.models import BatchState, ItemState
from evalhub.values.many_numbers import Among
from runs.models import Outcome, Result, Run, RunTally, TallyRow

EACH_MINUTE = 50
"""Runs that a worker's reaper counts at a time: it has other things to look after."""

GROUPS = ("issue_id", "tag_set_id", "origin", "outcome")
LACKING = (Outcome.UNSCORED, Outcome.ERROR, Outcome.PENDING)
CLOSE = 1e-9
"""Relative difference of sums of floating-point numbers: databases add in any order."""

ENDED = Q(state__in=[ItemState.DONE, ItemState.ERROR])
_WEIGHTED = F("weight") * F("score")
# A negative similarity counts as 0. SQLite and PostgreSQL name the larger of two differently.
_SIMILAR = F("weight") * Case(When(similarity__gt=0, then=F("similarity")), default=0.0)
_HAS_SCORE = Q(score__isnull=False)
_BY_JUDGES = _HAS_SCORE & Q(is_overridden=False, similarity__isnull=False)
_BY_HUMANS = _HAS_SCORE & Q(is_overridden=True)


def _sum(value: Any, condition: Q | None = None) -> Coalesce:
    return Coalesce(Sum(value, filter=condition, output_field=FloatField()), 0.0)


TALLIED: dict[str, Any] = {
    "n": Count("pk"),
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
    "sum_latency": Sum("latency_ms"),
    "with_latency": Count("latency_ms"),
    "mixed_weight": _sum(F("weight"), _BY_JUDGES),
    "mixed": _sum(_WEIGHTED, _BY_JUDGES),
    "similarities": _sum(_SIMILAR, _BY_JUDGES),
    "overridden_weight": _sum(F("weight"), _BY_HUMANS),
    "overridden_score": _sum(_WEIGHTED, _BY_HUMANS),
    "test_ids": Sum("test_id"),
    "test_scores": _sum(F("test_id") * F("weight") * F("score")),
}
"""What is added up over results, by the column of `TallyRow` that holds it."""


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
    tallied = exact_tallies(ids)
    found: list[tuple[Any, ...]] = []
    if tallied:
        found += _sums(by, sums, which, tallied) if which else _sums_of(by, sums)(tallied)
    if rest := ids - tallied:
        found += sums_over(Result.objects.filter(which or Q(), run__in=rest), by, sums)
    return found


def _sums(
    by: Sequence[str], sums: Sequence[str], which: Q, runs: Collection[int]
) -> QuerySet[Any, Any]:
    rows = TallyRow.objects.filter(Among("run_id", runs), which).order_by().values_list(*by)
    added: QuerySet[Any, Any] = rows.annotate(**{f"all_{name}": Sum(name) for name in sums})
    return added


@cache
def _sums_of(
    by: tuple[str, ...], sums: tuple[str, ...]
) -> Callable[[Collection[int]], list[tuple[Any, ...]]]:
    return fixed_query(partial(_sums, by, sums, Q()))


def exact_tallies(runs: Collection[int]) -> set[int]:
    """Return those of these runs whose tallies may be read; one query."""
    return {pk for (pk,) in _exact(runs)}


@fixed_query
def _exact(runs: Collection[int]) -> QuerySet[Any, Any]:
    return RunTally.objects.filter(Among("run_id", runs), is_exact=True).values_list("pk")


def sums_over(
    results: QuerySet[Result], by: Sequence[str], sums: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Add up results from themselves, as `summed` does."""
    rows = results.order_by().values_list(*by)
    return list(rows.annotate(**{f"all_{name}": TALLIED[name] for name in sums}))


def mark_changed(runs: Collection[int]) -> None:
    """Let nobody use the tallies of these runs; to be called after their results were changed."""
    RunTally.objects.filter(run__in=runs, is_exact=True).update(is_exact=False)


# Counting ----------------------------------------------------------------------------------------


def uncounted() -> QuerySet[Run]:
    """Return the complete runs without an exact tally, newest first."""
    exact = RunTally.objects.filter(run=OuterRef("pk"), is_exact=True)
    return Run.objects.complete().filter(~Exists(exact)).order_by("-pk")


def count_due() -> None:
    """Count some of the complete runs that have no exact tally. Runs every minute."""
    for run in list(uncounted().values_list("pk", flat=True)[:EACH_MINUTE]):
        count_run(run)


def count_run(run: int) -> bool:
    """Count the results of a run; return False, and change nothing, where somebody changes them."""
    with transaction.atomic():
        rows = _recount(run)
        if rows is None:
            return False
        TallyRow.objects.filter(run=run).delete()
        TallyRow.objects.bulk_create(rows)
        RunTally.objects.update_or_create(
            run_id=run,
            defaults={
                "is_exact": True,
                "lacking": sum(row.n for row in rows if row.outcome in LACKING),
            },
        )
    return True


def _recount(run: int) -> list[TallyRow] | None:
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
    sums = tuple(TALLIED)
    rows = [
        TallyRow(run_id=run, **dict(zip((*GROUPS, *sums), row, strict=True)))
        for row in sums_over(results, GROUPS, sums)
    ]
    return rows if sum(row.n for row in rows) == n_locked else None


# Proof -------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """A column of a tally that is not what the results add up to. None: there is no such row."""

    run: int
    group: tuple[Any, ...]
    column: str
    tallied: Any
    counted: Any

    def __str__(self) -> str:
        issue, tag_set, origin, outcome = self.group
        return (
            f"run {self.run}, issue {issue}, tag set {tag_set}, {origin}, {outcome}: "
            f"{self.column} is {self.tallied}, counted {self.counted}"
        )


def differences(run: int) -> list[Difference] | None:
    """Compare an exact tally with a recount; None where somebody changes the run just now."""
    with transaction.atomic():
        rows = _recount(run)
        if rows is None:
            return None
        if not RunTally.objects.filter(run=run, is_exact=True).exists():
            return []
        kept = {_group(row): row for row in TallyRow.objects.filter(run=run)}
    counted = {_group(row): row for row in rows}
    return [
        found
        for group in sorted({*kept, *counted})
        for found in _differences(run, group, kept.get(group), counted.get(group))
    ]


def _group(row: TallyRow) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in GROUPS)


def _differences(
    run: int, group: tuple[Any, ...], kept: TallyRow | None, counted: TallyRow | None
) -> Iterator[Difference]:
    for column in TALLIED if kept and counted else ("n",):
        pair = getattr(kept, column, None), getattr(counted, column, None)
        if not _is_equal(*pair):
            yield Difference(run, group, column, *pair)


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=CLOSE)
    return bool(one == other)
