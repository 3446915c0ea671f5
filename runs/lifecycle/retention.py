"""Removes the texts of old answers and replies; scores, counts and judgments stay.

An answer keeps its row, whose text then says when it was removed. Its call keeps tokens, cost and
time. Nothing is removed of work that is not over, nor an answer that was made an example.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from evalhub.models import BatchState, Call
from evalhub.values.database_cache import forget_computed
from runs.limits import RETENTION_ROWS_PER_MINUTE
from runs.models import Answer, Example, JudgeRun, Run

PORTION = 2_000
"""Rows that are changed in one transaction."""


REPLIES_DONE = "retention-replies"
"""Key under which the number of the last call that was looked at is kept."""

UNFINISHED = [BatchState.LIVE, BatchState.PAUSED]


class Removed(NamedTuple):
    answers: int
    replies: int


def tombstone(days: int) -> str:
    """Return the text in the place of one that is removed now."""
    return f"[Removed on {timezone.now():%Y-%m-%d}: such texts are kept for {days} days.]"


def remove_due() -> None:
    """Remove some of what is older than EVALHUB_KEEP_TEXTS_DAYS; 0 keeps all. Runs every minute."""
    if days := settings.EVALHUB_KEEP_TEXTS_DAYS:
        remove(days, most=RETENTION_ROWS_PER_MINUTE)


def remove(days: int, *, most: int | None = None) -> Removed:
    """Remove the texts of what ended over so many days ago.

    Args:
        most: Answers, and replies, to remove at most; None removes all.
    """
    before = timezone.now() - timedelta(days=days)
    answers = _remove_answers(before, tombstone(days), most)
    replies = _remove_replies(before, tombstone(days), most)
    if answers:
        forget_computed()  # they may quote them
    return Removed(answers, replies)


def due(days: int) -> Removed:
    """Return how many texts `remove` would remove now."""
    before = timezone.now() - timedelta(days=days)
    answers = removable(due_runs(before)).count()
    return Removed(answers, _replies(before).count())


def due_runs(before: datetime) -> QuerySet[Run]:
    """Return the runs that ended before, whose answers nobody judges now."""
    ended = Q(state=BatchState.DONE, finished_at__lt=before) | Q(
        state__in=[BatchState.CANCELLED, BatchState.FAILED], created_at__lt=before
    )
    judged = JudgeRun.objects.filter(run=OuterRef("pk"), state__in=UNFINISHED)
    return Run.objects.filter(ended, ~Exists(judged), texts_removed_at=None).order_by("pk")


def removable(runs: QuerySet[Run]) -> QuerySet[Answer]:
    examples = Example.objects.filter(evaluation__result=OuterRef("pk"))
    return Answer.objects.filter(~Exists(examples), result__run__in=runs, removed_at=None)


def _remove_answers(before: datetime, text: str, most: int | None) -> int:
    removed = 0
    for run in due_runs(before):
        while most is None or removed < most:
            changed = _remove_some(run, before, text)
            removed += changed
            if not changed:
                break
        else:
            break
    return removed


@transaction.atomic
def _remove_some(run: Run, before: datetime, text: str) -> int:
    """Remove a portion of a run's answers, or note that none is left; return their number."""
    still = due_runs(before).select_for_update(of=("self",)).filter(pk=run.pk)
    if not still:  # somebody has just resumed it
        return 0
    ids = list(removable(still).order_by("pk").values_list("pk", flat=True)[:PORTION])
    now = timezone.now()
    if not ids:
        Run.objects.filter(pk=run.pk).update(texts_removed_at=now)
    return Answer.objects.filter(pk__in=ids).update(
        text=text, turns=[], tool_calls=[], documents=None, reasoning="", removed_at=now
    )


def _replies(before: datetime) -> QuerySet[Call]:
    """Return old calls with a reply that no item waits for, which were not looked at yet."""
    done = caches["computed"].get(REPLIES_DONE) or 0
    return Call.objects.filter(pk__gt=done, started_at__lt=before, unsaved__isnull=True).exclude(
        reply=""
    )


def _remove_replies(before: datetime, text: str, most: int | None) -> int:
    removed = 0
    while most is None or removed < most:
        ids = list(_replies(before).order_by("pk").values_list("pk", flat=True)[:PORTION])
        if not ids:
            break
        removed += (
            Call.objects.filter(pk__in=ids)
            .exclude(reply__startswith="[Removed on ")
            .update(reply=text)
        )
        caches["computed"].set(REPLIES_DONE, ids[-1], None)
    return removed
