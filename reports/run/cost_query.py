"""Cost of answers: a histogram and percentiles from one grouped query."""

from dataclasses import dataclass
from decimal import Decimal

from reports.run.histogram_query import SHARES, bars_of, groups_of, percentile
from runs.models import Run

UNITS = 10**8
"""Smallest stored amounts per US dollar."""


@dataclass(frozen=True)
class CostBar:
    """Answers that cost at least `from_usd` and less than `to_usd`."""

    from_usd: Decimal
    to_usd: Decimal
    n: int


@dataclass(frozen=True)
class Cost:
    """Cost of `n` answers in US dollars, to two significant digits.

    `free` of them cost nothing. `percentiles` are nearest-rank over all: (share, USD). `bars` are
    of those that cost something, with the bounds 1, 2, 5, 10 … of a power of ten, without gaps.
    """

    n: int
    free: int
    percentiles: tuple[tuple[float, Decimal], ...]
    bars: tuple[CostBar, ...]


def cost_of(run: Run) -> Cost | None:
    """Return None where no cost is known."""
    amounts = groups_of(run, "cost_usd", UNITS)
    if not amounts:
        return None
    paid = [(units, n) for units, n in amounts if units]
    return Cost(
        n=sum(n for _, n in amounts),
        free=sum(n for units, n in amounts if not units),
        percentiles=tuple((share, _usd(percentile(amounts, share))) for share in SHARES),
        bars=tuple(CostBar(_usd(low), _usd(high), n) for low, high, n in bars_of(paid))
        if paid
        else (),
    )


def _usd(units: int) -> Decimal:
    return Decimal(units) / UNITS
