"""Results counted by run, issue and outcome: one query from which every rate is added up.

Only `Result`, which is narrow, is read, and all labels are those frozen at launch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.core.cache import cache
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce

from evalhub.digest import digest
from evalhub.models import ItemState
from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from runs.models import Outcome, Result, Run

SEED = 1
OUTCOMES = tuple(Outcome.values)
"""Listing the members of a class of choices takes longer than adding up a line."""

CACHE_S = 24 * 3600
"""How long a resampled interval is kept; its key is a digest of all that it was computed from."""


@dataclass(frozen=True)
class Tally:
    """Results of one run and outcome, added up; of one issue, or of all where that is 0.

    `with_score` of them have a score: `weight` is their Σ w and `weighted_score` their Σ w·s.
    """

    run_id: int
    issue_id: int
    outcome: str
    n: int
    with_score: int
    weight: float
    weighted_score: float


@dataclass(frozen=True)
class Cell(Tally):
    """Results of one run, issue and outcome, with all that is added up of them.

    `answered` have an answer or ended in an error. `similar` have a measured similarity.
    """

    tag_set_id: int
    similar: int
    overridden: int
    disputed: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    with_tokens: int
    with_cost: int
    answered: int


@dataclass(frozen=True)
class Counts:
    """Results by outcome. Errors, unjudged and pending ones are in no rate's denominator."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    error: int = 0
    pending: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.unscored + self.error + self.pending

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def excluded(self) -> dict[str, int]:
        """The results that are in no rate, by outcome."""
        return {"error": self.error, "unscored": self.unscored, "pending": self.pending}

    def as_dict(self) -> dict[str, int]:
        return {outcome: getattr(self, outcome) for outcome in OUTCOMES}


@dataclass(frozen=True)
class Rate:
    """The share of decided results that passed, with its 95 % interval.

    Attributes:
        passed: How many passed.
        n: How many were decided: passed or failed. Each counts once, whatever its weight.
        share: passed / n, in [0, 1]; None where n is 0.
        interval: None where nothing can be said of the spread.
        is_resampled: The interval is a bootstrap by issue, and not Wilson's.
    """

    passed: int
    n: int
    share: float | None
    interval: Interval | None
    is_resampled: bool


@dataclass(frozen=True)
class Score:
    """The score of a run, Σ w·s / Σ w over its results with a score, with its 95 % interval.

    Attributes:
        mean: In [0, 1]; None where nothing has a score.
        n: How many results have one.
        interval: A bootstrap by issue; None where nothing can be said of the spread.
    """

    mean: float | None
    n: int
    interval: Interval | None


SUMS = {
    "n": Count("pk"),
    "with_score": Count("score"),
    "weights": Coalesce(Sum("weight", filter=Q(score__isnull=False)), 0.0),
    "weighted_score": Coalesce(Sum(F("weight") * F("score")), 0.0),
}
"""Those of a tally, in its order."""

MORE_SUMS = {
    "similar": Count("similarity"),
    "overridden": Count("pk", filter=Q(is_overridden=True)),
    "disputed": Count("pk", filter=Q(is_disputed=True)),
    "sum_in": Sum("input_tokens"),
    "sum_out": Sum("output_tokens"),
    "sum_cost": Sum("cost_usd"),
    "with_tokens": Count("output_tokens"),
    "with_cost": Count("cost_usd"),
    "answered": Count("pk", filter=Q(state__in=[ItemState.DONE, ItemState.ERROR])),
}
"""What a cell has besides, in its order."""


def cells_of(runs: Iterable[Run | int]) -> list[Cell]:
    """The results of these runs, counted in one query."""
    rows = Result.objects.filter(run__in=runs).order_by()
    groups = rows.values("run_id", "issue_id", "outcome", "tag_set_id")
    sums = groups.annotate(**SUMS, **MORE_SUMS)
    fields = ("run_id", "issue_id", "outcome", *SUMS, "tag_set_id", *MORE_SUMS)
    return [Cell(*row) for row in sums.values_list(*fields)]


def tallies_of(runs: Iterable[Run]) -> list[Tally]:
    """The results of these runs in brief, in two queries: enough for their rates and scores.

    Only where tests were repeated are issues told apart, as their rates resample them.
    """
    runs = list(runs)
    once = Result.objects.filter(run__in=[run for run in runs if run.repeats == 1]).order_by()
    often = Result.objects.filter(run__in=[run for run in runs if run.repeats > 1]).order_by()
    by_run = once.values("run_id", "outcome").annotate(**SUMS)
    by_issue = often.values("run_id", "issue_id", "outcome").annotate(**SUMS)
    found = [
        Tally(run_id, 0, *rest) for run_id, *rest in by_run.values_list("run_id", "outcome", *SUMS)
    ]
    rows = by_issue.values_list("run_id", "issue_id", "outcome", *SUMS)
    return found + [Tally(*row) for row in rows]


def counts_of(cells: Iterable[Tally]) -> Counts:
    found = dict.fromkeys(OUTCOMES, 0)
    for cell in cells:
        found[cell.outcome] += cell.n
    return Counts(**found)


def rate_of(cells: Sequence[Tally], *, repeats: int, resample: bool = True) -> Rate:
    """The pass rate of these results.

    Wilson's interval holds for single answers. Repeats of one test are not independent: then
    issues are resampled, which takes a while.
    """
    scored = [cell for cell in cells if cell.outcome in (Outcome.PASSED, Outcome.FAILED)]
    passed = sum(cell.n for cell in scored if cell.outcome == Outcome.PASSED)
    n = sum(cell.n for cell in scored)
    is_resampled = repeats > 1
    return Rate(
        passed=passed,
        n=n,
        share=passed / n if n else None,
        interval=_spread(scored, resample) if is_resampled else wilson_interval(passed, n),
        is_resampled=is_resampled,
    )


def score_of(cells: Sequence[Tally], *, resample: bool = True) -> Score:
    """The score that these results come to together; its interval takes a while to resample."""
    weight = sum(cell.weight for cell in cells)
    total = sum(cell.weighted_score for cell in cells)
    with_score = [cell for cell in cells if cell.weight]
    return Score(
        mean=total / weight if weight else None,
        n=sum(cell.with_score for cell in cells),
        interval=_resampled(
            (cell.weighted_score / cell.weight, cell.weight, cell) for cell in with_score
        )
        if resample
        else None,
    )


def _spread(scored: Sequence[Tally], resample: bool) -> Interval | None:
    if not resample:
        return None
    return _resampled((float(cell.outcome == Outcome.PASSED), cell.n, cell) for cell in scored)


def _resampled(means: Iterable[tuple[float, float, Tally]]) -> Interval | None:
    """Bootstrap by issue. A cluster enters by its sums only, so one mean per cell is enough.

    Args:
        means: The mean of each cell, and the weight with which it counts.
    """
    inputs = [
        (mean, weight, f"{cell.run_id}-{cell.issue_id}")
        for mean, weight, cell in sorted(means, key=_place)
    ]
    if not inputs:
        return None
    key = f"interval-{digest(inputs)}"
    kept = cache.get(key)
    if kept is None:
        values, weights, clusters = zip(*inputs, strict=True)
        kept = (clustered_interval(values, weights, clusters, seed=SEED),)
        cache.set(key, kept, CACHE_S)
    interval: Interval | None = kept[0]
    return interval


def _place(mean: tuple[float, float, Tally]) -> tuple[int, int, str]:
    tally = mean[2]
    return tally.run_id, tally.issue_id, tally.outcome
