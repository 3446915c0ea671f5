"""Verdicts of models that changed when two texts were swapped, in trials on known claims."""

from collections.abc import Iterable

from django.db.models import Count, F, OuterRef, Q, Subquery

from reports.documents.rate_cells import share_without_interval
from runs.figures.rate import Rate
from runs.trials.models import ClaimJudgment, ClaimKind

FIRST, SECOND = Q(score__gte=F("trial__threshold")), Q(turned__gte=F("trial__threshold"))


def swapped_by_model(language_models: Iterable[int]) -> dict[int, Rate]:
    """Return the share of pairs with inconsistent verdicts by language model, in one query.

    Pairs without a score in both orders do not count. The better of two texts is consistent if the
    first wins in one order and the second in the other.
    """
    turned = ClaimJudgment.objects.filter(trial=OuterRef("trial"), claim=OuterRef("claim"), order=1)
    pairs = ClaimJudgment.objects.filter(
        trial__language_model__in=set(language_models), order=0, score__isnull=False
    ).annotate(turned=Subquery(turned.values("score")[:1]))
    is_equal = (FIRST & SECOND) | (~FIRST & ~SECOND)
    is_rank = Q(claim__kind=ClaimKind.RANK)
    rows = (
        pairs.exclude(turned=None)
        .order_by()
        .values_list("trial__language_model")
        .annotate(
            changed=Count("pk", filter=(is_rank & is_equal) | (~is_rank & ~is_equal)),
            n=Count("pk"),
        )
    )
    return {model: share_without_interval(changed, n) for model, changed, n in rows}
