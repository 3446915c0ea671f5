"""The state of the site, which Home tells above its cards."""

from dataclasses import dataclass

from evalhub.models import BatchState, LanguageModel
from evalhub.work.leases import workers_alive
from issues.models import Test, TestState
from runs.models import JudgeRun, Run


@dataclass(frozen=True)
class SiteState:
    """The state of the site.

    Attributes:
        is_new: No run exists yet.
        is_stuck: Work is waiting, but no worker is active.
        approved_tests: Tests that may run; counted only on a new site, as are `models`.
        models: Active language models.
    """

    is_new: bool
    is_stuck: bool
    approved_tests: int = 0
    models: int = 0


def site_state() -> SiteState:
    live = any(batch.objects.filter(state=BatchState.LIVE).exists() for batch in (Run, JudgeRun))
    is_stuck = live and not workers_alive()
    if Run.objects.exists():
        return SiteState(is_new=False, is_stuck=is_stuck)
    return SiteState(
        is_new=True,
        is_stuck=is_stuck,
        approved_tests=Test.objects.filter(state=TestState.APPROVED).count(),
        models=LanguageModel.objects.active().count(),
    )
