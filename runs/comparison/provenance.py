"""What EvalHub itself did to make scores, read from answers and judgments."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from evalhub.models import ItemState
from issues.rubrics.scoring import WHOLE_TEST
from runs.comparison.scoring_versions import Parts, merged
from runs.models import Answer, EvaluationKind, HumanEvaluation, Judgment, Provenance


def parts_of(rows: QuerySet[Any]) -> dict[str, list[Any]]:
    """Return what took part in any of these answers or judgments; one query."""
    used = rows.filter(provenance__isnull=False).order_by().values("provenance")
    return merged(Provenance.objects.filter(pk__in=used).values_list("parts", flat=True))


def parts_by_test(runs: Collection[int]) -> dict[tuple[int, int], Parts]:
    """Return what took part in the scores of each test, by run and revision; three queries.

    Where people judged a whole answer, no judge took part: unless one of them withdrew.
    """
    people = HumanEvaluation.objects.filter(
        criterion__key=WHOLE_TEST, result__is_overridden=True, result__run__in=runs
    )
    withdrawn = people.filter(kind=EvaluationKind.WITHDRAWAL).order_by()
    people = people.exclude(result__in=withdrawn.values("result"))
    answers = Answer.objects.filter(result__run__in=runs, result__state=ItemState.DONE)
    judgments = Judgment.objects.filter(
        judge_run__run__in=runs, judge_run__is_active=True, value__isnull=False
    ).exclude(result__in=people.order_by().values("result"))
    used: dict[tuple[int, int], set[int]] = defaultdict(set)
    for rows in (answers, judgments):
        places = rows.filter(provenance__isnull=False).order_by()
        columns = ("result__run", "result__revision", "provenance")
        for run, revision, provenance in places.values_list(*columns).distinct():
            used[run, revision].add(provenance)
    parts = Provenance.objects.in_bulk(set().union(*used.values()))
    return {place: merged(parts[pk].parts for pk in ids) for place, ids in used.items()}
