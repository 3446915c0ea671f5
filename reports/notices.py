"""Telling people of runs that finished, and of those that are worse than their baseline.

Pulled every minute: a run is told of once it is done as a whole, and again when another judging
became current, for that changes what it says.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.core.cache import caches
from django.utils import timezone

from evalhub.models import BatchState, User
from evalhub.notices.models import NoticeKind
from evalhub.notices.telling import Event, tell
from evalhub.wording import percent
from reports.comparison.gate import Code, Limits
from reports.gating import Gated, gated
from reports.links import page_url
from runs.models import Judging, Outcome, Run
from runs.states import current_of, state_of
from runs.tallies import Counts, counts_of, tallies_of

APART = (Outcome.ERROR, Outcome.UNJUDGED, Outcome.PENDING)
LOOKED_BACK = timedelta(days=1)
KEPT_S = 7 * 24 * 3600
CONTROLS = "runs.control_run"
"""Who may do something about a regression is told of it."""


def tell_finished() -> int:
    """Tell of the runs that finished within a day and were not told of yet; gives how many."""
    return sum(_tell_once(run, judging) for run, judging in _finished())


def _finished() -> Iterable[tuple[Run, Judging | None]]:
    since = timezone.now() - LOOKED_BACK
    lately = Run.objects.filter(state=BatchState.DONE, finished_at__gte=since)
    judged = Run.objects.filter(
        state=BatchState.DONE, judgings__is_current=True, judgings__finished_at__gte=since
    )
    runs = (lately | judged).distinct().select_related("requested_by", "suite__baseline")
    for run in runs.prefetch_related("judgings"):
        judgings = list(run.judgings.all())
        if state_of(run, judgings) == BatchState.DONE:
            yield run, current_of(judgings)


def _tell_once(run: Run, judging: Judging | None) -> bool:
    """Whether it had to be told; what was told is remembered, so that nothing is computed twice."""
    key, kept = f"run {run.pk} judging {judging.number if judging else 0}", caches["computed"]
    if kept.get(_told(key)):
        return False
    people = [run.requested_by] if run.requested_by else []
    tell(_finished_event(run, key), to=people)
    if regression := _regression(run, key):
        tell(regression, to=[*people, *_who_control()])
    kept.set(_told(key), True, KEPT_S)
    return True


def _told(key: str) -> str:
    return "told-" + key.replace(" ", "-")


def _who_control() -> Iterable[User]:
    backend = "django.contrib.auth.backends.ModelBackend"
    return User.objects.with_perm(CONTROLS, backend=backend)


# What is said ------------------------------------------------------------------------------------


def _finished_event(run: Run, key: str) -> Event:
    counts = counts_of(tallies_of([run]))
    return Event(
        kind=NoticeKind.RUN_FINISHED,
        key=f"{key} finished",
        title=f"{run.label} is done",
        text=f"{run.model_name}: {in_words(counts)}.",
        url=run.get_absolute_url(),
        facts={
            "run": run.pk,
            "label": run.label,
            "model": run.model_name,
            "counts": counts.as_dict(),
        },
    )


def in_words(counts: Counts) -> str:
    """The pass rate with its n, and what is in no rate."""
    share = counts.passed / counts.decided if counts.decided else None
    rest = [f"{n:,} {name}" for name, n in counts.as_dict().items() if n and name in APART]
    return ", ".join([f"{percent(share)} passed ({counts.passed:,} of {counts.decided:,})", *rest])


def _regression(run: Run, key: str) -> Event | None:
    """What there is to say where the run is worse than its suite's baseline by the gate's rule."""
    baseline = run.suite.baseline if run.suite else None
    if baseline is None or baseline.pk == run.pk:
        return None
    gate = gated(run, baseline, Limits())
    return _worse(run, baseline, gate, key) if gate.ruling.code == Code.REGRESSED else None


def _worse(run: Run, baseline: Run, gate: Gated, key: str) -> Event:
    return Event(
        kind=NoticeKind.REGRESSION,
        key=f"{key} against {baseline.pk}",
        title=f"{run.label} is worse than {baseline.label}",
        text=gate.ruling.reason,
        url=page_url("compare", runs=[baseline.pk, run.pk]),
        facts={"run": run.pk, "baseline": baseline.pk, "reason": gate.ruling.reason},
    )
