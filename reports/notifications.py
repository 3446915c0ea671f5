"""Telling people of runs that finished, and of those that are worse than their baseline.

Pulled every minute: a run is told of once it is done as a whole, and again when another judging
became current, for that changes what it says.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.core.cache import caches
from django.utils import timezone

from evalhub.formatting import percent
from evalhub.models import BatchState, User
from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind
from reports.documents.links import page_url
from reports.gate.query import GateResult, gate_result
from reports.gate.rule import Code, Limits
from runs.figures.states import current_of, state_of
from runs.figures.tallies import Counts, counts_of, tallies_of
from runs.models import JudgeRun, Outcome, Run

APART = (Outcome.ERROR, Outcome.UNSCORED, Outcome.PENDING)
LOOKBACK = timedelta(days=1)
KEPT_S = 7 * 24 * 3600
CONTROLS = "runs.control_run"
"""Who may do something about a regression is told of it."""


def notify_finished() -> int:
    """Tell of the runs that finished within a day and were not told of yet; gives how many."""
    return sum(_notify_once(run, judge_run) for run, judge_run in _finished())


def _finished() -> Iterable[tuple[Run, JudgeRun | None]]:
    since = timezone.now() - LOOKBACK
    lately = Run.objects.filter(state=BatchState.DONE, finished_at__gte=since)
    judged = Run.objects.filter(
        state=BatchState.DONE, judge_runs__is_active=True, judge_runs__finished_at__gte=since
    )
    runs = (lately | judged).distinct().select_related("requested_by", "suite__baseline")
    for run in runs.prefetch_related("judge_runs"):
        judge_runs = list(run.judge_runs.all())
        if state_of(run, judge_runs) == BatchState.DONE:
            yield run, current_of(judge_runs)


def _notify_once(run: Run, judge_run: JudgeRun | None) -> bool:
    """Whether it had to be told; what was told is remembered, so that nothing is computed twice."""
    key, kept = f"run {run.pk} judging {judge_run.number if judge_run else 0}", caches["computed"]
    if kept.get(_sent_key(key)):
        return False
    people = [run.requested_by] if run.requested_by else []
    notify(_finished_event(run, key), to=people)
    if regression := _regression(run, key):
        notify(regression, to=[*people, *_who_control()])
    kept.set(_sent_key(key), True, KEPT_S)
    return True


def _sent_key(key: str) -> str:
    return "told-" + key.replace(" ", "-")


def _who_control() -> Iterable[User]:
    backend = "django.contrib.auth.backends.ModelBackend"
    return User.objects.with_perm(CONTROLS, backend=backend)


# What is said ------------------------------------------------------------------------------------


def _finished_event(run: Run, key: str) -> Event:
    counts = counts_of(tallies_of([run]))
    return Event(
        kind=NotificationKind.RUN_FINISHED,
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
    share = counts.passed / counts.scored if counts.scored else None
    rest = [f"{n:,} {name}" for name, n in counts.as_dict().items() if n and name in APART]
    return ", ".join([f"{percent(share)} passed ({counts.passed:,} of {counts.scored:,})", *rest])


def _regression(run: Run, key: str) -> Event | None:
    """What there is to say where the run is worse than its suite's baseline by the gate's rule."""
    baseline = run.suite.baseline if run.suite else None
    if baseline is None or baseline.pk == run.pk:
        return None
    gate = gate_result(run, baseline, Limits())
    return _worse(run, baseline, gate, key) if gate.ruling.code == Code.REGRESSED else None


def _worse(run: Run, baseline: Run, gate: GateResult, key: str) -> Event:
    return Event(
        kind=NotificationKind.REGRESSION,
        key=f"{key} against {baseline.pk}",
        title=f"{run.label} is worse than {baseline.label}",
        text=gate.ruling.reason,
        url=page_url("compare", runs=[baseline.pk, run.pk]),
        facts={"run": run.pk, "baseline": baseline.pk, "reason": gate.ruling.reason},
    )
