"""Cost limits over all processes: each reserves in the database what it is about to spend.

What is recorded as spent and everything reserved never exceed a limit together. A cost that is
saved leaves its worker's reservation as it is, until the worker reserves again: until then it
counts twice, never not at all.
"""

import asyncio
from collections.abc import Sequence
from decimal import ROUND_UP, Decimal
from typing import NamedTuple

from django.db import transaction
from django.db.models import Sum

from evalhub.work.batches import LiveBatch
from evalhub.work.database import Database
from evalhub.work.kinds import AnyKind
from evalhub.work.limits.budget import Budget, Spend
from evalhub.work.models import Batch, CostReservation, Worker

AHEAD = 8
"""Calls for which money is reserved at once."""


class Granted(NamedTuple):
    """A worker's allowance, None without a limit, and what other workers have reserved."""

    allowance_usd: float | None
    others_usd: float


def reserve(kind: AnyKind, batch: Batch, worker: Worker, used: float, estimate: float) -> Granted:
    """Reserve money for the next calls, or, if there is not enough for one, only what is used.

    It replaces what the worker had reserved for the limit.

    Args:
        used: US dollars for calls in flight, and of finished ones that are not recorded.
        estimate: Upper bound of the next call's cost.
    """
    key = kind.spend(batch).key or batch.work_key
    CostReservation.objects.get_or_create(worker=worker, key=key)
    with transaction.atomic():
        rows = CostReservation.objects.filter(key=key)
        list(rows.select_for_update().order_by("worker"))  # one worker reserves at a time
        spend: Spend = kind.spend(batch)
        if spend.limit is None:
            return Granted(None, 0.0)
        others = rows.filter(worker__stopped_at=None).exclude(worker=worker)
        others_usd = float(others.aggregate(total=Sum("amount_usd"))["total"] or 0)
        left = spend.limit - spend.spent - others_usd
        is_enough = used + estimate <= left + 1e-9
        amount = min(used + AHEAD * estimate, left) if is_enough else used
        rows.filter(worker=worker).update(amount_usd=_usd(amount))
    return Granted(amount, others_usd)


def give_back(keys: Sequence[str], worker: Worker) -> None:
    """Free what the worker has reserved for these limits."""
    CostReservation.objects.filter(worker=worker, key__in=keys).delete()


def _usd(amount: float) -> Decimal:
    return Decimal(max(0.0, amount)).quantize(Decimal("1e-8"), ROUND_UP)


class Funding:
    """The budgets of one process, and the money that it reserves for them."""

    def __init__(self, database: Database, worker: Worker) -> None:
        self.database, self.worker = database, worker
        self._budgets: dict[str, tuple[float | None, Budget]] = {}
        self._lock = asyncio.Lock()

    def budget(self, batch: Batch, spend: Spend) -> Budget:
        """Return the budget of a batch as just read. A new limit is asked about anew."""
        key = spend.key or batch.work_key
        limit, budget = self._budgets.get(key, (None, Budget()))
        if spend.limit != limit:
            budget.allowance_usd = None if spend.limit is None else budget.used_usd
        self._budgets[key] = (spend.limit, budget)
        return budget

    async def ensure(
        self, kind: AnyKind, batch: Batch, budget: Budget, estimate_usd: float
    ) -> float:
        """Reserve more if a call needs it; return what others have reserved, if that was asked."""
        if budget.affords(estimate_usd):
            return 0.0
        async with self._lock:
            if budget.affords(estimate_usd):
                return 0.0
            saved_before = budget.saved_usd
            granted = await self.database.with_retries(
                reserve, kind, batch, self.worker, budget.used_usd, estimate_usd
            )
            budget.allowance_usd = granted.allowance_usd
            if budget.allowance_usd is not None:
                budget.allowance_usd -= budget.saved_usd - saved_before
            return granted.others_usd

    async def reconsider(self, live_batch: LiveBatch) -> float:
        """Let a batch continue if its refused call is affordable now; return as `ensure` does."""
        gate = live_batch.gate
        if gate.refused_usd is None:
            return 0.0
        others_usd = await self.ensure(
            live_batch.kind, live_batch.batch, gate.budget, gate.refused_usd
        )
        if gate.budget.affords(gate.refused_usd):
            gate.refused_usd = None
        return others_usd

    async def is_exhausted(self, live_batch: LiveBatch) -> bool:
        """Return True if no worker can make the refused call, once nothing is in flight here."""
        others_usd = await self.reconsider(live_batch)
        return live_batch.gate.refused_usd is not None and others_usd == 0

    async def give_back_unused(self) -> None:
        """Leave to other workers what nothing here needs now."""
        idle = [
            key
            for key, (_, budget) in self._budgets.items()
            if budget.allowance_usd and not budget.used_usd
        ]
        for key in idle:
            self._budgets[key][1].allowance_usd = 0.0
        if idle:
            await self.database.with_retries(give_back, idle, self.worker)
