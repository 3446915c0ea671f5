"""Notifications on finished runs and regressions.

Pulled every minute. A run is reported once it is complete, and again when another judge run becomes
active, which changes its scores.
"""

from dataclasses import replace
from datetime import timedelta

from django.core.cache import caches
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from evalhub.access.roles import users_with
from evalhub.display.formatting import percent
from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind
from reports.documents.links import page_url
from reports.gate.exit_codes import ExitCode
from reports.gate.formats import rule_as_json
from reports.gate.query import gate_result
from runs.comparison.baselines import opponent_of
from runs.comparison.comparability import comparability_of, rejudge_url
from runs.comparison.comparability_rule import Comparable
from runs.comparison.completeness import scored_words
from runs.figures.states import current_of
from runs.figures.tallies import Counts, group_of, tallies_of_runs
from runs.models import JudgeRun, Run

LOOKBACK = timedelta(days=1)
KEPT_S = 7 * 24 * 3600


def notify_finished() -> int:
    """Notify of runs that finished within a day, once each; return their number."""
    since = timezone.now() - LOOKBACK
    judged = JudgeRun.objects.filter(run=OuterRef("pk"), is_active=True, finished_at__gte=since)
    runs = Run.objects.complete().filter(Q(finished_at__gte=since) | Exists(judged))
    related = runs.select_related("requested_by", "suite").prefetch_related("judge_runs")
    return sum(_notify_once(run) for run in related)


def _notify_once(run: Run) -> bool:
    """Notify unless that was done before; return whether it was due."""
    judge_run = current_of(run.judge_runs.all())
    key = f"run {run.pk} judge run {judge_run.number if judge_run else 0}"
    sent, sent_key = caches["computed"], "notified-" + key.replace(" ", "-")
    if sent.get(sent_key):
        return False
    people = [run.requested_by] if run.requested_by else []
    opponent = opponent_of(run)
    comparable = comparability_of(opponent, run) if opponent else None
    finished = _finished_event(run, key)
    if opponent and comparable is not None and not comparable:
        finished = _not_comparable(finished, run, opponent, comparable)
    notify(finished, to=people)
    if regression := _regression(run, opponent, key):
        notify(regression, to=[*people, *users_with("runs.control_run")])
    sent.set(sent_key, True, KEPT_S)
    return True


def _finished_event(run: Run, key: str) -> Event:
    counts = group_of(tallies_of_runs([run]))
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
    """Return the pass rate with its n, the scored share, and the excluded results."""
    share = counts.passed / counts.scored if counts.scored else None
    rest = [
        f"{n:,} {name}" for name, n in counts.as_dict().items() if n and name in counts.excluded
    ]
    passed = f"{percent(share)} passed ({counts.passed:,} of {counts.scored:,})"
    scored = scored_words(counts.scored, counts.total)
    incomplete = [] if counts.is_enough else ["incomplete"]
    return ", ".join([*incomplete, passed, scored, *rest])


def _not_comparable(event: Event, run: Run, opponent: Run, comparable: Comparable) -> Event:
    """Return the event with the reason why nothing is concluded against the opponent."""
    judged, like = comparable.to_rejudge(opponent.pk, run.pk)
    facts = {
        "against": opponent.pk,
        "comparability": comparable.verdict.value,
        "reason": comparable.reason,
        "rejudge": rejudge_url(judged, like) if comparable.is_repairable else None,
    }
    return replace(
        event,
        text=f"{event.text} {comparable.reason_against(opponent.label)}",
        facts={**event.facts, **facts},
    )


def _regression(run: Run, opponent: Run | None, key: str) -> Event | None:
    """Return the event where the run does not pass the gate of its suite."""
    result = gate_result(run, opponent)
    if result.decision.code != ExitCode.DOES_NOT_HOLD:
        return None
    against = result.against
    compared = {"runs": [against.pk, run.pk]} if against else {}
    return Event(
        kind=NotificationKind.REGRESSION,
        key=f"{key} against {against.pk if against else 'nothing'}",
        title=f"{run.label} fails the gate" + (f" against {against.label}" if against else ""),
        text=result.decision.reason,
        url=page_url("compare", **compared) if compared else run.get_absolute_url(),
        facts={
            "run": run.pk,
            "against": against.pk if against else None,
            "reason": result.decision.reason,
            "rules": [rule_as_json(line) for line in result.lines],
        },
    )
