"""Verdicts of models that changed when two texts were swapped, in trials on known claims."""

from collections import Counter
from collections.abc import Iterable

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.expressions import ExpressionWrapper
from django.db.models.fields import BooleanField

from reports.documents.rate_cells import share_without_interval
from runs.figures.rate import Rate
from runs.laboratory.trials.judges.measures import is_consistent
from runs.laboratory.trials.models import ClaimJudgment, ClaimKind


def swapped_by_model(language_models: Iterable[int]) -> dict[int, Rate]:
    """Return the share of pairs with inconsistent verdicts by language model, in one query.

    Pairs without a score in both orders do not count.
    """
    turned = ClaimJudgment.objects.filter(trial=OuterRef("trial"), claim=OuterRef("claim"), order=1)
    pairs = ClaimJudgment.objects.filter(
        trial__language_model__in=set(language_models), order=0, score__isnull=False
    ).annotate(turned=Subquery(turned.values("score")[:1]))
    rows = (
        pairs.exclude(turned=None)
        .annotate(
            is_first=_holds(Q(score__gte=F("trial__threshold"))),
            is_second=_holds(Q(turned__gte=F("trial__threshold"))),
        )
        .order_by()
        .values_list("trial__language_model", "claim__kind", "is_first", "is_second")
        .annotate(n=Count("pk"))
    )
    changed: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for model, kind, first, second, n in rows:
        asked[model] += n
        if not is_consistent(bool(first), bool(second), is_rank=kind == ClaimKind.RANK):
            changed[model] += n
    return {model: share_without_interval(changed[model], n) for model, n in asked.items()}


def _holds(condition: Q) -> ExpressionWrapper:
    return ExpressionWrapper(condition, output_field=BooleanField())
