"""Results that may have changed since a moment, for exports of what is new."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from evalhub.models import BatchState
from runs.models import Answer, HumanEvaluation, JudgeRun, Run


def changed_since(moment: datetime) -> Q:
    """Return the condition that a result was answered, judged, rescored or evaluated since.

    It holds for all results of a run that began, ended, or had a judge run begin, end or become
    active since: no change is missed, and some results come again.
    """
    judged = JudgeRun.objects.filter(_moved(moment) | Q(active_since__gte=moment))
    runs = Run.objects.filter(_moved(moment) | Q(pk__in=judged.order_by().values("run")))
    evaluated = HumanEvaluation.objects.filter(created_at__gte=moment).values("result")
    answered = Answer.objects.filter(created_at__gte=moment, result=OuterRef("pk"))
    in_runs = Q(run__in=runs.order_by().values("pk"))
    return in_runs | Q(pk__in=evaluated.order_by()) | Q(Exists(answered.order_by()))


def _moved(moment: datetime) -> Q:
    """Return the condition that a batch began or ended since, or has not ended."""
    unfinished = Q(state__in=[BatchState.LIVE, BatchState.PAUSED])
    return unfinished | Q(created_at__gte=moment) | Q(finished_at__gte=moment)
