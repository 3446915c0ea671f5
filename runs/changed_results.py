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
    evaluated = HumanEvaluation.objects.filter(created_at__gte=moment)
    answered = Answer.objects.filter(created_at__gte=moment)
    few = [
        list(rows.order_by().values_list(name, flat=True)[: MANY + 1])
        for rows, name in ((runs, "pk"), (evaluated, "result"), (answered, "result"))
    ]
    if all(len(one) <= MANY for one in few):
        return Q(run__in=few[0]) | Q(pk__in={*few[1], *few[2]})
    in_runs = Q(run__in=runs.order_by().values("pk"))
    of_answers = Exists(answered.filter(result=OuterRef("pk")).order_by())
    return in_runs | Q(pk__in=evaluated.order_by().values("result")) | Q(of_answers)


MANY = 1000
"""Runs or results up to which those that changed are named: a database finds them by its indexes,
and looks through all results for the others."""


def _moved(moment: datetime) -> Q:
    """Return the condition that a batch began or ended since, or has not ended."""
    unfinished = Q(state__in=[BatchState.LIVE, BatchState.PAUSED])
    return unfinished | Q(created_at__gte=moment) | Q(finished_at__gte=moment)
