"""How long answers took: a histogram and percentiles from one narrow, grouped query."""

from dataclasses import dataclass
from itertools import pairwise

from django.db.models import Case, Count, ExpressionWrapper, F, IntegerField, Q, Value, When

from runs.models import Result, Run

SHARES = (0.5, 0.9, 0.99)
LONGEST_MS = 10**9
STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Bar:
    """Answers that took at least `from_ms` and less than `to_ms`."""

    from_ms: int
    to_ms: int
    n: int


@dataclass(frozen=True)
class Latency:
    """Times of `n` measured answers in milliseconds, to two significant digits.

    `percentiles` are nearest-rank: (share, ms). Rounding keeps the order, so they are the rounded
    percentiles of the exact times. `bars` have the bounds 1, 2, 5, 10, 20, 50 … without gaps.
    """

    n: int
    percentiles: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]


def latency_of(run: Run) -> Latency | None:
    """None where no time was measured."""
    measured = Result.objects.filter(run=run, latency_ms__isnull=False).order_by()
    groups = measured.annotate(ms=_two_digits()).values("ms").annotate(n=Count("pk"))
    times = sorted(groups.values_list("ms", "n"))
    n = sum(count for _, count in times)
    if not n:
        return None
    percentiles = tuple((share, _percentile(times, share, n)) for share in SHARES)
    return Latency(n, percentiles, _bars(times))


def _two_digits() -> Case:
    """Times cut to two significant digits, so that at most some hundred groups come back."""
    magnitudes = [10**power for power in range(1, 9)]
    return Case(
        *(When(Q(latency_ms__lt=100 * size), then=_cut(size)) for size in (1, *magnitudes)),
        default=Value(LONGEST_MS),
        output_field=IntegerField(),
    )


def _cut(size: int) -> ExpressionWrapper:
    rest = F("latency_ms") % Value(size)
    return ExpressionWrapper(F("latency_ms") - rest, output_field=IntegerField())


def _percentile(times: list[tuple[int, int]], share: float, n: int) -> int:
    """The smallest time that at least this share of the answers does not exceed."""
    needed, seen = share * n, 0
    for ms, count in times:
        seen += count
        if round(seen - needed, 9) >= 0:
            return ms
    return times[-1][0]


def _bars(times: list[tuple[int, int]]) -> tuple[Bar, ...]:
    bounds = [0] + [step * 10**power for power in range(10) for step in STEPS]
    low, high = times[0][0], times[-1][0]
    return tuple(
        Bar(start, end, sum(count for ms, count in times if start <= ms < end))
        for start, end in pairwise(bounds)
        if end > low and start <= high
    )
