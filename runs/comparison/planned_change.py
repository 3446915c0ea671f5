"""The loss that a comparison can show, planned with the changes of an earlier pair of runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from evalhub.statistics.changes.detectable import Detectable, Plan
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.values.computed import computed
from runs.comparison.baselines import opponent_of
from runs.comparison.comparability import comparability_of
from runs.figures.run_labels import names_of_pair
from runs.models import Outcome, Result, Run

CACHED = "detectable-1"
"""Name and version of `Plan.detectable`."""


@dataclass(frozen=True)
class PlannedChange:
    """A plan, and where its changes were measured, such as "measured from A to B"."""

    plan: Plan
    measured: str

    def found(self) -> Detectable:
        """Return what is detectable, cached."""
        return computed(CACHED, self.plan.inputs(), Detectable, self.plan.detectable)


def planned_change(
    tests: Iterable[int], pair: tuple[Run, Run] | None, level: float = LEVEL
) -> PlannedChange | None:
    """Return what a comparison of tests plans for; None without tests; one query.

    Args:
        tests: Number of tests of each issue.
        pair: Earlier comparable runs: as many tests are taken to change. None: the usual share.
    """
    plan = Plan.of(tests, _changes(*pair) if pair else [], level)
    measured = "measured from {} to {}".format(*names_of_pair(*pair)) if pair else ""
    return PlannedChange(plan, measured) if plan else None


def pair_before(run: Run) -> tuple[Run, Run] | None:
    """Return the run with the one that it was compared with, if they are comparable."""
    before = opponent_of(run)
    return (before, run) if before and comparability_of(before, run) else None


def _changes(first: Run, second: Run) -> list[float]:
    """Return the change of every test that both runs scored, of the share that passed."""
    scored_outcomes = (Outcome.PASSED, Outcome.FAILED)
    passed, scored = Q(judges_outcome=Outcome.PASSED), Q(judges_outcome__in=scored_outcomes)
    rows = Result.objects.filter(scored, run__in=(first, second)).order_by()
    counted = rows.values_list("revision_id", "run_id").annotate(
        passed=Count("pk", filter=passed), n=Count("pk")
    )
    shares: dict[int, dict[int, float]] = {first.pk: {}, second.pk: {}}
    for revision, run, n_passed, n in counted:
        shares[run][revision] = n_passed / n
    before, after = shares[first.pk], shares[second.pk]
    return [after[revision] - before[revision] for revision in before.keys() & after.keys()]
