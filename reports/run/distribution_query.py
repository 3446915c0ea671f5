"""Distributions of latency and cost over a run's results, grouped in the database."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from django.db.models import BigIntegerField, Count, Func, QuerySet

from runs.models import Outcome, Result, Run

SIZES = tuple(10**power for power in range(12))
HIGHEST = 100 * SIZES[-1]
USD_UNITS = 10**8
"""Smallest stored amounts per US dollar."""

Groups = Sequence[tuple[int, int]]
"""Whole numbers cut to two significant digits, rising, and how often each was measured."""


@dataclass(frozen=True)
class Distribution:
    """`n` measured answers, to two significant digits; `zeros` of them measured 0.

    `percentiles` are nearest-rank: (share, value). Cutting keeps the order, so they are the cut
    percentiles of the exact values. `bars` are (from, below, n) with the bounds 1, 2, 5, 10, 20,
    50 … of a power of ten, without gaps.
    """

    n: int
    zeros: int
    percentiles: tuple[tuple[float, Any], ...]
    bars: tuple[tuple[Any, Any, int], ...]


def latency_of(run: Run) -> Distribution | None:
    """Return the latency in milliseconds (int); None where none was measured."""
    times = sorted(_grouped(run, "latency_ms", 1))
    return _distribution(times, times, int)


def cost_of(run: Run) -> Distribution | None:
    """Return the cost in US dollars (Decimal), zeros without a bar; None where none is known."""
    amounts = sorted(_grouped(run, "cost_usd", USD_UNITS))
    paid = [(units, n) for units, n in amounts if units]
    return _distribution(amounts, paid, lambda units: Decimal(units) / USD_UNITS)


def _distribution(
    groups: Groups, drawn: Groups, value: Callable[[int], Any]
) -> Distribution | None:
    if not groups:
        return None
    return Distribution(
        n=sum(n for _, n in groups),
        zeros=sum(n for found, n in groups if not found),
        percentiles=tuple((share, value(percentile(groups, share))) for share in (0.5, 0.9, 0.99)),
        bars=tuple((value(low), value(high), n) for low, high, n in _bars(drawn)),
    )


class TwoDigits(Func):
    """Multiply by `units`, round and cut to two significant digits, for few groups.

    It is one piece of SQL, as putting the like together of Django's expressions takes longer than
    the query.
    """

    output_field = BigIntegerField()

    def __init__(self, measured: str, units: int) -> None:
        whole = f"CAST(ROUND(%(expressions)s * {units}) AS bigint)"
        cuts = (f"WHEN {whole} < {100 * n} THEN {whole} / {n} * {n}" for n in SIZES)
        super().__init__(measured, template=f"CASE {' '.join(cuts)} ELSE {HIGHEST} END")


def _grouped(run: Run, measured: str, units: int) -> QuerySet[Any, Any]:
    rows = Result.objects.filter(run=run, **{f"{measured}__isnull": False}).order_by()
    rows = rows.exclude(outcome=Outcome.ERROR)
    cut: QuerySet[Any, Any] = rows.annotate(cut=TwoDigits(measured, units)).values("cut")
    found: QuerySet[Any, Any] = cut.annotate(n=Count("pk")).values_list("cut", "n")
    return found


def percentile(groups: Groups, share: float) -> int:
    """Return the nearest-rank percentile.

    Raises:
        IndexError: There are no groups.
    """
    needed, seen = share * sum(n for _, n in groups), 0
    for value, n in groups:
        seen += n
        if round(seen - needed, 9) >= 0:
            return value
    return groups[-1][0]


def _bars(groups: Groups) -> Iterator[tuple[int, int, int]]:
    """Yield (from, below, n) of the bins that the groups span."""
    if not groups:
        return
    bounds = [0, *(step * size for size in SIZES for step in (1, 2, 5)), HIGHEST, 2**63]
    for start, end in pairwise(bounds):
        if end > groups[0][0] and start <= groups[-1][0]:
            yield start, end, sum(n for value, n in groups if start <= value < end)
