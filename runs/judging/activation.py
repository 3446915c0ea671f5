"""The active judge run of a run, which sets its scores."""

from django.db import transaction
from django.utils import timezone

from evalhub.work import progress
from runs.figures.run_tallies import mark_changed
from runs.models import JudgeRun, Result
from runs.scoring.score import rescore

SLICE = 1000
"""Results rescored per statement."""


@transaction.atomic
def set_active(judge_run: JudgeRun) -> None:
    """Let this judge run set the run's scores from now on; keep the others."""
    progress.lock(judge_run.run)
    others = JudgeRun.objects.filter(run=judge_run.run_id).exclude(pk=judge_run.pk)
    others.update(is_active=False, becomes_active=False)
    JudgeRun.objects.filter(pk=judge_run.pk).update(
        is_active=True, becomes_active=False, active_since=timezone.now()
    )
    results = Result.objects.filter(run=judge_run.run_id).order_by("pk")
    ids = list(results.values_list("pk", flat=True))
    for start in range(0, len(ids), SLICE):
        rescore(ids[start : start + SLICE])
    mark_changed([judge_run.run_id])


def activate_when_done(judge_run_id: int) -> None:
    """Set a judge run as active if that was asked for; to be called after it is marked as done."""
    wanted = JudgeRun.objects.select_related("run").filter(becomes_active=True)
    if judge_run := wanted.filter(pk=judge_run_id).first():
        set_active(judge_run)
