"""Conclusive runs, and sums over their scores in one grouped query."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce

from reports.leaderboard.rule import Sums
from runs.comparability import with_active
from runs.models import Result, Run


def conclusive_runs_with_times() -> QuerySet[Run]:
    """Return conclusive runs with `began_at` and their active judge run, as `active`."""
    return with_active(Run.objects.conclusive()).annotate(
        began_at=Coalesce("started_at", "created_at")
    )


def sums_of(
    runs: Collection[int],
    own_betas: dict[int, float],
    *,
    tag_sets: Collection[int] | None = None,
    is_remixed: bool = False,
) -> dict[int, Sums]:
    """Return sums over the scored results of each run; runs without any are missing.

    Args:
        own_betas: Share of similarity in the scores, by run id.
        tag_sets: Count only results with one of these; None: all results.
        is_remixed: Add the sums that another share of similarity needs.
    """
    rows = Result.objects.filter(run__in=runs).order_by()
    if tag_sets is not None:
        rows = rows.filter(tag_set__in=tag_sets)
    wanted = SUMS | REMIXED if is_remixed else SUMS
    sums = rows.values("run_id").annotate(**wanted)
    return {
        run: replace(Sums(n, weight, weighted, own_betas[run], *mixed), total=total)
        for run, n, weight, weighted, total, *mixed in sums.values_list("run_id", *wanted)
        if n
    }


def _sum(value: Any, **condition: Any) -> Coalesce:
    return Coalesce(Sum(value, filter=Q(**condition) if condition else None), 0.0)


_SCORED = F("weight") * F("score")
# A negative similarity counts as 0. SQLite and PostgreSQL name the larger of two differently.
_SIMILAR = F("weight") * Case(When(similarity__gt=0, then=F("similarity")), default=Value(0.0))
_HAS_SCORE = {"score__isnull": False}
_BY_JUDGES = {**_HAS_SCORE, "is_overridden": False, "similarity__isnull": False}
_BY_HUMANS = {**_HAS_SCORE, "is_overridden": True}

SUMS: dict[str, Any] = {
    "scores": Count("score"),
    "weights": _sum(F("weight"), **_HAS_SCORE),
    "weighted": _sum(_SCORED),
    "total": Count("pk"),
}
REMIXED: dict[str, Any] = {
    "mixed_weight": _sum(F("weight"), **_BY_JUDGES),
    "mixed": _sum(_SCORED, **_BY_JUDGES),
    "similar": _sum(_SIMILAR, **_BY_JUDGES),
    "overridden_weight": _sum(F("weight"), **_BY_HUMANS),
    "scored": _sum(_SCORED, **_BY_HUMANS),
}
"""`SUMS` and `REMIXED` together follow the fields of `Sums`, without `own_beta` and `total`."""
