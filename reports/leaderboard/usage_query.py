"""Cost and latency of the answers of runs."""

from collections.abc import Collection

from django.db.models import Count, Sum

from evalhub.models import ItemState
from reports.leaderboard.tradeoff_rule import Usage
from runs.models import Result


def usage_of(runs: Collection[int]) -> dict[int, Usage]:
    """Add up the answers of each run; one query."""
    rows = Result.objects.filter(run__in=runs, state=ItemState.DONE).order_by().values("run")
    sums = rows.annotate(
        answers=Count("pk"),
        cost=Sum("cost_usd"),
        with_cost=Count("cost_usd"),
        latency=Sum("latency_ms"),
        with_latency=Count("latency_ms"),
    )
    return {
        row["run"]: Usage(
            row["answers"],
            float(row["cost"] or 0),
            row["with_cost"],
            row["latency"] or 0,
            row["with_latency"],
        )
        for row in sums
    }
