"""Smallest change that a planned run could detect against an earlier one."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count, Q

from evalhub.statistics.changes.detectable import Detectable, detectable_of, measured_from
from runs.comparison.baselines import latest_pair
from runs.figures.run_labels import names_of_pair
from runs.models import Outcome, Result, Run, Suite


class PlannedChange(NamedTuple):
    """The change that a planned run detects, with basis and caveat, as Compare prints them."""

    found: Detectable
    note: str


def detectable(issues: Sequence[int], suite: Suite | None) -> PlannedChange | None:
    """Return what a run of tests of these issues could detect; None without tests.

    As many of them are taken to change as did in the suite's latest run from its baseline or
    previous run: of the last pair that is comparable, for another jury would flip verdicts, too.
    """
    runs = latest_pair(suite, is_comparable=True) if suite else None
    found = detectable_of(issues, _changes(*runs) if runs else [])
    if found is None:
        return None
    return PlannedChange(found, found.note(measured_from(*names_of_pair(*runs)) if runs else ""))


def _changes(first: Run, second: Run) -> list[float]:
    """Return the change of every test that both runs scored, of the share that passed."""
    passed, scored = Q(outcome=Outcome.PASSED), Q(outcome__in=(Outcome.PASSED, Outcome.FAILED))
    rows = Result.objects.filter(scored, run__in=(first, second)).order_by()
    counted = rows.values_list("revision_id", "run_id").annotate(
        passed=Count("pk", filter=passed), n=Count("pk")
    )
    shares: dict[int, dict[int, float]] = {first.pk: {}, second.pk: {}}
    for revision, run, n_passed, n in counted:
        shares[run][revision] = n_passed / n
    before, after = shares[first.pk], shares[second.pk]
    return [after[revision] - before[revision] for revision in before.keys() & after.keys()]
