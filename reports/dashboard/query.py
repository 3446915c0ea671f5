"""The state of the site: what Home tells above its cards, and whether they may be kept."""

from dataclasses import dataclass

from django.db.models import QuerySet

from evalhub.models import BatchState
from evalhub.work.leases import workers_alive
from reports.queries.counts import any_of
from runs.models import HumanEvaluation, JudgeRun, Run

LIVE = {"state": BatchState.LIVE}


@dataclass(frozen=True)
class SiteState:
    """The state of the site.

    Attributes:
        is_new: No run exists yet.
        is_stuck: Work is waiting, but no worker is active.
    """

    is_new: bool
    is_stuck: bool


def site_state() -> SiteState:
    """Return the state; one query while nothing is at work."""
    batches = Run.objects.filter(**LIVE), JudgeRun.objects.filter(**LIVE)
    has_runs, *live = any_of([Run.objects.all(), *batches])
    return SiteState(is_new=not has_runs, is_stuck=any(live) and not workers_alive())


def counts_live_work() -> bool:
    """Tell whether a card may change before a row that the version of the data knows.

    Human verdicts are counted wherever they were given; other figures are of complete runs.
    """
    judged: QuerySet[JudgeRun, int] = JudgeRun.objects.filter(**LIVE).values_list("run", flat=True)
    runs = {*Run.objects.filter(**LIVE).values_list("pk", flat=True), *judged}
    return bool(runs) and HumanEvaluation.objects.filter(result__run__in=runs).exists()
