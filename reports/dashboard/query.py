"""The state of the site, which Home tells above its cards."""

from dataclasses import dataclass

from evalhub.models import BatchState
from evalhub.work.leases import workers_alive
from runs.models import JudgeRun, Run


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
    live = any(batch.objects.filter(state=BatchState.LIVE).exists() for batch in (Run, JudgeRun))
    return SiteState(not Run.objects.exists(), is_stuck=live and not workers_alive())
