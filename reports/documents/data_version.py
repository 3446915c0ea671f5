"""The version of all data that reports read: a short text that another state does not have.

Results, scores and judgments are no part of it: those of a run that is over change only together
with a row that is, in one transaction (a human evaluation, an active judge run, a run or judge run
that works again). Reports on work that is not over need `is_settled`.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import cache
from hashlib import sha256
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from evalhub.audit.view import histories, signed_models
from evalhub.fixed_query import fixed_query
from evalhub.models import BatchState
from evalhub.values.many_numbers import Among
from runs.models import Run
from runs.pairwise.models import PairwiseJudgeRun
from runs.retention import due_runs

APPENDED = (
    "evalhub.Exposure",
    "issues.Merge",
    "reports.DismissedProposal",
    "runs.SuiteVersion",
    "runs.TagSet",
)
"""Models whose rows are never changed, beside the versions of rows and the signed ones."""

_SPENT = f"CASE WHEN state = '{BatchState.LIVE}' THEN 0 ELSE spent_usd END"
_OF_BATCH = (
    *("id", "state", "started_at", "finished_at", "requested_by_id", "cost_limit_usd"),
    _SPENT,
)
CHANGED = {
    "issues.ResolutionLabel": ("id", "name"),
    "pairwise.PairwiseJudgeRun": _OF_BATCH,
    "reports.ExecutiveSummary": (*_OF_BATCH, "tags"),
    "reports.ReportSchedule": ("id", "requested_by_id"),
    "runs.Launch": ("id", "label", "release"),
    "runs.JudgeRun": (*_OF_BATCH, "is_active", "active_since"),
    "runs.Run": (*_OF_BATCH, *("label", "release", "launch_id", "suite_id", "texts_removed_at")),
}
"""Models whose rows change without a version, with the columns that do: the others are frozen when
a row is made, or are written together with its state."""

WINDOW = 1000
"""Newest rows that are counted: transactions do not end in the order of their numbers, so the
highest number alone would miss a row."""


def data_version() -> str:
    """Return the version; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(connection.vendor))
        return sha256(repr(cursor.fetchone()).encode()).hexdigest()


def is_settled(runs: Collection[int]) -> bool:
    """Tell whether the version changes whenever pages of these runs do, today; a few queries.

    Old texts are removed in portions, so pages of a run that is due are not settled.
    """
    if not runs:
        return True
    runs = set(runs)
    if days := settings.EVALHUB_KEEP_TEXTS_DAYS:
        tomorrow = timezone.now() + timedelta(days=1)
        if due_runs(tomorrow - timedelta(days=days)).filter(pk__in=runs).exists():
            return False
    return len(_complete(runs)) == len(runs) and not _in_live_pairs(runs)


@fixed_query
def _complete(runs: Collection[int]) -> QuerySet[Any, Any]:
    return Run.objects.filter(Among("pk", runs)).complete().order_by().values_list("pk")


@fixed_query
def _in_live_pairs(runs: Collection[int]) -> QuerySet[Any, Any]:
    live = PairwiseJudgeRun.objects.filter(Among("runs", runs), state=BatchState.LIVE)
    return live.order_by().values_list("pk")[:1]


@cache
def _statement(vendor: str) -> str:
    versioned = (each for kind, versions in histories().items() for each in (kind, versions))
    appended = map(_model, (*versioned, *signed_models(), *APPENDED))
    parts = [*map(_newest, appended), *(_rows(*each, vendor) for each in CHANGED.items())]
    return f"SELECT {', '.join(parts)}"


def _model(found: Any) -> Any:
    return apps.get_model(found) if isinstance(found, str) else found


def _newest(model: Any) -> str:
    table, pk = model._meta.db_table, model._meta.pk.column
    since = f"(SELECT MAX({pk}) - {WINDOW} FROM {table})"
    return f"(SELECT MAX({pk}) || ' ' || COUNT(*) FROM {table} WHERE {pk} > {since})"


def _rows(label: str, columns: Sequence[str], vendor: str) -> str:
    row = " || '|' || ".join(f"COALESCE(CAST({column} AS TEXT), '~')" for column in columns)
    is_postgres = vendor == "postgresql"
    gathered = f"STRING_AGG({row}, ';' ORDER BY id)" if is_postgres else f"GROUP_CONCAT({row})"
    return f"(SELECT MD5({gathered}) FROM {_model(label)._meta.db_table})"
