"""Cost limits: the budget that batches share, and the gate that each call passes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalhub.work.errors import GivenBack

READS_TO_SETTLE = 2
"""Readings until a saved cost is certain to be included: one may have begun before the save."""


@dataclass
class Spend:
    """A batch's cost so far and its limit, in US dollars. `limit` None: no limit.

    Batches with the same `key` share one limit; "": this batch has its own.
    """

    spent: float
    limit: float | None
    key: str = ""


@dataclass
class Budget:
    """The spend of batches that share a limit, with costs that the database does not hold yet.

    In US dollars: `reserved_usd` is the estimate for calls in flight, `unsaved_usd` the cost of
    finished calls, `settling` the costs saved since the spend was last read.
    """

    spend: Spend = field(default_factory=lambda: Spend(0.0, None))
    reserved_usd: float = 0.0
    unsaved_usd: float = 0.0
    settling: list[tuple[float, int]] = field(default_factory=list)

    def affords(self, estimate_usd: float) -> bool:
        if self.spend.limit is None:
            return True
        settling = sum(cost for cost, _ in self.settling)
        spent = self.spend.spent + settling + self.unsaved_usd + self.reserved_usd
        return spent + estimate_usd <= self.spend.limit + 1e-9

    def look(self, spend: Spend) -> None:
        """Take over the spend as just read from the database."""
        self.spend = spend
        self.settling = [(cost, looks - 1) for cost, looks in self.settling if looks > 1]

    def balance(self, spend: Spend) -> None:
        """Take over the spend when nothing is in flight or unsaved."""
        self.spend, self.settling = spend, []
        self.reserved_usd = self.unsaved_usd = 0.0

    def add_unsaved(self, cost_usd: float) -> None:
        """Count the cost of a finished call until it is saved."""
        self.unsaved_usd += cost_usd

    def mark_saved(self, cost_usd: float) -> None:
        """Count a cost as saved, but not yet read back."""
        self.unsaved_usd -= cost_usd
        self.settling.append((cost_usd, READS_TO_SETTLE))


@dataclass
class Gate:
    """Decides whether a call of a batch may start.

    `refused_usd` is the estimate of a call that could have exceeded the limit; None: no call was
    refused.
    """

    budget: Budget = field(default_factory=Budget)
    is_open: bool = True
    refused_usd: float | None = None

    def check(self) -> None:
        if not self.is_open:
            raise GivenBack

    def reconsider(self) -> bool:
        """Return True if no call was refused, or if the refused one is affordable now."""
        if self.refused_usd is not None and self.budget.affords(self.refused_usd):
            self.refused_usd = None
        return self.refused_usd is None

    @contextmanager
    def reserve(self, estimate_usd: float) -> Iterator[None]:
        """Reserve a cost while a call is in flight; raise GivenBack if the call may not start."""
        self.check()
        if not self.budget.affords(estimate_usd):
            self.refused_usd = estimate_usd
            raise GivenBack
        self.budget.reserved_usd += estimate_usd
        try:
            yield
        finally:
            self.budget.reserved_usd -= estimate_usd
