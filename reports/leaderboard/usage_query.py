"""Cost and latency of the answers of runs."""

from collections.abc import Collection

from django.db.models import Q

from reports.leaderboard.tradeoff_rule import Usage
from runs.figures.run_tallies import summed
from runs.models import Outcome

SUMS = ("n", "sum_cost", "with_cost", "sum_latency", "with_latency")


def usage_of(runs: Collection[int]) -> dict[int, Usage]:
    """Add up the answers of each of these complete runs."""
    answers = ~Q(outcome=Outcome.ERROR)
    return {
        run: Usage(n, float(cost or 0), with_cost, latency or 0, with_latency)
        for run, n, cost, with_cost, latency, with_latency in summed(
            runs, ("run_id",), SUMS, answers
        )
    }
