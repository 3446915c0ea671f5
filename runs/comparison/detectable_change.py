"""The loss that a comparison can show, planned with the changes of an earlier pair of runs."""

from collections.abc import Iterable

from evalhub.statistics.changes.detectable_change import Detectable, Plan
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.values.computed_cache import computed
from runs.comparison.baselines import opponent_of
from runs.comparison.comparability import comparability_of
from runs.comparison.outcomes_by_test import outcomes_in
from runs.figures.run_labels import names_of_pair
from runs.models import Run

Pair = tuple[Run, Run]


def detectable_of(tests: Iterable[int], pair: Pair | None, level: float = LEVEL) -> Detectable:
    """Return the loss that a comparison of tests can show, cached; one query.

    Args:
        tests: Number of tests of each issue, of one at least.
        pair: Earlier comparable runs: as many tests are taken to change. None: the usual share.
    """
    plan = Plan.of(tests, _changes(*pair) if pair else [], level)
    return computed("detectable-1", plan.inputs(), Detectable, plan.detectable)


def measured_from(pair: Pair | None) -> str:
    """Name the pair of runs whose changes were counted."""
    return "measured from {} to {}".format(*names_of_pair(*pair)) if pair else ""


def pair_before(run: Run) -> Pair | None:
    """Return the run with the one that it was compared with, if they are comparable."""
    before = opponent_of(run)
    return (before, run) if before and comparability_of(before, run) else None


def _changes(first: Run, second: Run) -> list[float]:
    """Return the change of every test that both runs scored, of the share that passed."""
    before, after = (
        {one.revision_id: one.share for one in tests if one.share is not None}
        for tests in outcomes_in([first.pk, second.pk]).values()
    )
    return [after[revision] - before[revision] for revision in before.keys() & after.keys()]
