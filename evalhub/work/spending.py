"""What calls cost an item and its batch.

A call whose provider did not bill it costs 0. One that may be billed, at a cost that is not known,
has none (`Call.cost_usd`) and is counted beside the sum.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from django.db.models import F

from evalhub.llm.models import Call
from evalhub.work.kinds import kinds
from evalhub.work.models import Batch


def add_spent(calls: Iterable[Call]) -> None:
    """Add new calls to what their batches spent. Rows are locked in the order of their kinds."""
    spent: dict[str, list[Decimal | None]] = defaultdict(list)
    for call in calls:
        spent[call.batch].append(call.cost_usd)
    for kind in kinds():
        name = str(kind.batch_model._meta.model_name)
        mine = {key: costs for key, costs in spent.items() if key.rpartition(" ")[0] == name}
        for pk, costs in sorted((int(key.rpartition(" ")[2]), mine[key]) for key in mine):
            known = sum((cost for cost in costs if cost is not None), Decimal(0))
            unpriced = costs.count(None)
            if known or unpriced:
                kind.batches().filter(pk=pk).update(
                    spent_usd=F("spent_usd") + known, unpriced_calls=F("unpriced_calls") + unpriced
                )


class CallCost(NamedTuple):
    """Cost of a call in US dollars; None if unknown."""

    usd: Decimal | None
    is_failed: bool


Costs = Mapping[int, CallCost]
"""Costs of an item's earlier calls by their id, as of a worker that gave the item back or died."""


def earlier_costs(batch: Batch, item_ids: Sequence[int]) -> dict[int, dict[int, CallCost]]:
    """Return the costs of all calls that are recorded, by item."""
    costs: dict[int, dict[int, CallCost]] = defaultdict(dict)
    calls = Call.objects.filter(batch=batch.work_key, item_id__in=item_ids).order_by()
    for call in calls.only("item_id", "cost_usd", "error_kind"):
        assert call.item_id is not None  # it was found by it
        costs[call.item_id][call.pk] = CallCost(call.cost_usd, bool(call.error_kind))
    return costs


def cost_of_item(earlier: Costs, calls: Iterable[Call], *, saved: int = 0) -> Decimal | None:
    """Return the cost of an item: of its earlier calls, those just made, and those saved."""
    new = (call for call in calls if call.pk not in earlier)
    made = [CallCost(call.cost_usd, bool(call.error_kind)) for call in new]
    return total_cost([*earlier.values(), *made, *[CallCost(Decimal(0), False)] * saved])


def total_cost(costs: Iterable[CallCost]) -> Decimal | None:
    """Return the cost of all calls in US dollars; None if that of one with a reply is unknown.

    A failed call of unknown cost is left out: its batch counts it.
    """
    asked = [cost for cost in costs if not (cost.is_failed and cost.usd is None)]
    known = [cost.usd for cost in asked if cost.usd is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(asked) else None
