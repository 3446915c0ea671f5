"""Answer latency: a histogram and percentiles from one grouped query."""

from dataclasses import dataclass

from reports.run.histogram_query import SHARES, bars_of, groups_of, percentile
from runs.models import Run


@dataclass(frozen=True)
class Bar:
    """Answers that took at least `from_ms` and less than `to_ms`."""

    from_ms: int
    to_ms: int
    n: int


@dataclass(frozen=True)
class Latency:
    """Latency of `n` measured answers in milliseconds, to two significant digits.

    `percentiles` are nearest-rank: (share, ms). Rounding keeps the order, so they are the rounded
    percentiles of the exact times. `bars` have the bounds 1, 2, 5, 10, 20, 50 … without gaps.
    """

    n: int
    percentiles: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]


def latency_of(run: Run) -> Latency | None:
    """Return None where no latency was measured."""
    times = groups_of(run, "latency_ms")
    if not times:
        return None
    return Latency(
        n=sum(n for _, n in times),
        percentiles=tuple((share, percentile(times, share)) for share in SHARES),
        bars=tuple(Bar(*bar) for bar in bars_of(times)),
    )
