"""Cost limits: what a process may still spend, and the gate that each call passes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits.refused_requests import Refusals


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
    """The money that this process may still spend on batches that share a limit, in US dollars.

    `allowance_usd` is beyond what is recorded as spent; None: no limit. `reserved_usd` is the
    estimate for calls in flight, `unsaved_usd` the cost of finished calls, `saved_usd` that of all
    saved ones.
    """

    allowance_usd: float | None = None
    reserved_usd: float = 0.0
    unsaved_usd: float = 0.0
    saved_usd: float = 0.0

    @property
    def used_usd(self) -> float:
        return self.reserved_usd + self.unsaved_usd

    def affords(self, estimate_usd: float) -> bool:
        if self.allowance_usd is None:
            return True
        return self.used_usd + estimate_usd <= self.allowance_usd + 1e-9

    def add_unsaved(self, cost_usd: float) -> None:
        """Count the cost of a finished call until it is saved."""
        self.unsaved_usd += cost_usd

    def mark_saved(self, cost_usd: float) -> None:
        """Count a cost as recorded: the allowance is what comes beyond."""
        self.unsaved_usd -= cost_usd
        self.saved_usd += cost_usd
        if self.allowance_usd is not None:
            self.allowance_usd -= cost_usd


@dataclass
class Gate:
    """Decides whether a call of a batch may start.

    `refused_usd` is the estimate of a call that could have exceeded the limit; None: no call was
    refused.
    """

    budget: Budget = field(default_factory=Budget)
    is_open: bool = True
    refused_usd: float | None = None
    refusals: Refusals = field(default_factory=Refusals)

    def reopen(self) -> None:
        self.is_open, self.refused_usd, self.refusals = True, None, Refusals()

    def check(self) -> None:
        if not self.is_open:
            raise GivenBack

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
