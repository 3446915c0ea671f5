"""Cost and latency of the answers of runs."""

from collections.abc import Collection

from reports.leaderboard.tradeoff_rule import Usage
from runs.figures.run_tallies import OUTCOMES, summed
from runs.models import Outcome

ANSWERED = tuple(outcome for outcome in OUTCOMES if outcome != Outcome.ERROR)
SUMS = ("answers_cost", "answers_with_cost", "sum_latency", "with_latency", *ANSWERED)


def usage_of(runs: Collection[int]) -> dict[int, Usage]:
    """Add up the answers of each of these complete runs."""
    return {
        run: Usage(sum(n), float(cost or 0), with_cost, latency or 0, with_latency)
        for run, cost, with_cost, latency, with_latency, *n in summed(runs, ("run_id",), SUMS)
    }
