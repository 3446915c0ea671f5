"""Whether a batch's work may go on: it was not paused, and its money is not spent."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalhub.work.kinds import Spend

READS_TO_SETTLE = 2
"""Readings of the purse until a saved cost is surely among them: one may be under way already."""


class GivenBack(Exception):
    """The item is to be returned in good order, its work done later."""

    def __init__(self, *, after_s: float = 0.0) -> None:
        super().__init__(f"given back for {after_s:.0f} s")
        self.after_s = after_s


@dataclass
class Budget:
    """The money of batches that share a limit: what the database says, and what it cannot know yet.

    US dollars: `reserved_usd` are estimates of calls in flight, `unsaved_usd` costs of calls that
    ended, `settling` costs that were saved after the purse was last read.
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
        """Take over what the database says is spent."""
        self.spend = spend
        self.settling = [(cost, looks - 1) for cost, looks in self.settling if looks > 1]

    def balance(self, spend: Spend) -> None:
        """The same when nothing is in flight and all is saved: the database then knows all."""
        self.spend, self.settling = spend, []
        self.reserved_usd = self.unsaved_usd = 0.0

    def add_unsaved(self, cost_usd: float) -> None:
        """A call has ended with this cost, which is not saved yet."""
        self.unsaved_usd += cost_usd

    def mark_saved(self, cost_usd: float) -> None:
        """That cost has been saved."""
        self.unsaved_usd -= cost_usd
        self.settling.append((cost_usd, READS_TO_SETTLE))


@dataclass
class Gate:
    """Through which every call of a batch goes.

    `refused_usd` is the estimate of a call that could have passed the limit; None: there was none.
    """

    budget: Budget = field(default_factory=Budget)
    is_open: bool = True
    refused_usd: float | None = None

    def check(self) -> None:
        """Raise GivenBack where no call may begin any more."""
        if not self.is_open:
            raise GivenBack

    def reconsider(self) -> bool:
        """Whether a call may be made: none was refused, or that one can be paid after all."""
        if self.refused_usd is not None and self.budget.affords(self.refused_usd):
            self.refused_usd = None
        return self.refused_usd is None

    @contextmanager
    def reserve(self, estimate_usd: float) -> Iterator[None]:
        """Keep so much back while a call is in flight.

        Raises:
            GivenBack: The batch was paused, or its cost limit could be passed.
        """
        self.check()
        if not self.budget.affords(estimate_usd):
            self.refused_usd = estimate_usd
            raise GivenBack
        self.budget.reserved_usd += estimate_usd
        try:
            yield
        finally:
            self.budget.reserved_usd -= estimate_usd
