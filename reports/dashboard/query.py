"""The state of the site, which Home says above its cards."""

from dataclasses import dataclass

from evalhub.models import BatchState
from evalhub.work.leases import workers_alive
from reports.queries.counts import any_of
from runs.models import JudgeRun, Run

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
