"""What batches have spent: one sum for pages, limits, API and files. Pure."""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple, Protocol

from evalhub.display.formatting import counted, usd


class Spent(NamedTuple):
    """US dollars, and the number of calls of unknown cost beside them; `usd` None: all unknown."""

    usd: Decimal | None
    unpriced: int

    def __str__(self) -> str:
        if self.usd is None:
            return "unknown"
        more = f" and {counted(self.unpriced, 'call')} of unknown cost" if self.unpriced else ""
        return f"{usd(self.usd)}{more}"


class Spender(Protocol):
    spent_usd: Decimal
    unpriced_calls: int


def spent_by(parts: Iterable[Spender]) -> Spent:
    """Return what all calls of batches cost."""
    return added(Spent(part.spent_usd, part.unpriced_calls) for part in parts)


def added(parts: Iterable[Spent]) -> Spent:
    """Add up what was spent; a cost of 0 beside calls of unknown cost is unknown."""
    rows = list(parts)
    cost = sum((row.usd or Decimal(0) for row in rows), Decimal(0))
    unpriced = sum(row.unpriced for row in rows)
    return Spent(cost if cost or not unpriced else None, unpriced)
