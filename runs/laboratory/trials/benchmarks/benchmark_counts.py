"""Numbers of what benchmarks have, each counted for itself: joins would multiply them."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from runs.laboratory.trials.models import Benchmark, Claim, Idea, IdeaState, Topic, Trial


def with_counts(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """Annotate numbers of topics, clusters, active ideas, claims and trials."""
    topics = Topic.objects.all()
    ideas = Idea.objects.filter(state=IdeaState.ACTIVE)
    return benchmarks.annotate(
        topic_total=_number(topics),
        cluster_total=_number(topics.filter(is_cluster=True)),
        idea_total=_number(ideas, "topic__benchmark"),
        claim_total=_number(Claim.objects.all()),
        trial_total=_number(Trial.objects.all()),
    )


def _number(rows: QuerySet[Any], of: str = "benchmark") -> Coalesce:
    mine = rows.filter(**{of: OuterRef("pk")}).order_by().values(of)
    return Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0)
