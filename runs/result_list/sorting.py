"""The orders in which a run's results are listed."""

from typing import Any

from django.db.models import Case, F, Func, QuerySet, SmallIntegerField, Value, When

from evalhub.work.models import ItemQuerySet
from runs.models import Outcome

SORTS = {
    "": "needs review first",
    "score": "lowest score",
    "-score": "highest score",
    "agreement": "least agreement",
    "-latency_ms": "slowest",
    "-cost_usd": "most expensive",
    "test": "by test",
}
"""Orders of the grid, with their labels."""

FIRST = (Outcome.ERROR, Outcome.UNSCORED, Outcome.FAILED, Outcome.PASSED)
"""Order of outcomes after missing judgments: those that need review first, pending last."""

_PLACES = " ".join(f"WHEN '{one.value}' THEN {place}" for place, one in enumerate(FIRST))


def in_order(results: ItemQuerySet, sort: str, *, doubtful: QuerySet[Any]) -> ItemQuerySet:
    """Order results by one of `SORTS`; unmeasured values come last.

    Args:
        doubtful: Ids of results with a failed judgment: they need review first.
    """
    if not sort:
        # One piece of SQL: to put it together of Django's conditions takes longer than the query.
        place = f"CASE %(expressions)s {_PLACES} ELSE {len(FIRST)} END"
        rank = Func("outcome", template=place, output_field=SmallIntegerField())
        doubt = Case(When(pk__in=doubtful, then=Value(0)), default=Value(1))
        return results.order_by(doubt, rank, "issue_id", "test_id", "pk")
    if sort == "test":
        return results.order_by("test_id", "repeat")
    name, falls = F(sort.lstrip("-")), sort.startswith("-")
    order = name.desc(nulls_last=True) if falls else name.asc(nulls_last=True)
    return results.order_by(order, "pk")
