"""Results that annotators reviewed: what judges and annotators made of them, who and why."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, Sum, When

from evalhub.models import User
from evalhub.values.id_in import IdIn
from issues.rubrics.scoring import WHOLE_TEST
from reports.overrides.rule import OVERTURNED, Review, Reviews
from runs.models import EvaluationKind, HumanEvaluation, Result
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.shown_verdicts import hidden_from, record

MAX_SHOWN = 20
"""Overrides that the page of a run lists; the report of overrides has them all."""


@dataclass(frozen=True)
class Verdict:
    """An annotator's active evaluation of a result or of one of its criteria.

    `criterion` is its place in the rubric; None: the whole. `why` is "" where the reader may not
    read it.
    """

    who: str
    kind: str
    criterion: int | None
    option: str
    value: float | None
    why: str


@dataclass(frozen=True)
class Override:
    """A reviewed result. `judges_score` is None where the judges gave none."""

    review: Review
    issue: str
    run_label: str
    model_name: str
    judges_score: float | None
    score: float | None
    is_disputed: bool
    when: datetime
    verdicts: tuple[Verdict, ...]


def reviews_of(results: QuerySet[Result]) -> Reviews:
    """Return the reviewed ones among these results; one query."""
    evaluations = HumanEvaluation.objects.filter(result=OuterRef("pk")).order_by("-pk")
    newest = Subquery(evaluations.values("pk")[:1])
    rows = results.filter(is_overridden=True).annotate(newest=newest)
    newest_first = rows.order_by(F("newest").desc(nulls_last=True), "pk")
    columns = ("pk", "run_id", "judges_passed", "passed")
    return Reviews(map(Review._make, newest_first.values_list(*columns)))


def reviewers_of(results: QuerySet[Result], reviews: Reviews) -> list[tuple[str, int, int]]:
    """Count the results that each annotator reviewed and, of them, the overturned; two queries.

    Those with an active evaluation count; `reviews` are those of the results.
    """
    rows = HumanEvaluation.objects.filter(result__in=results.filter(is_overridden=True)).order_by()
    signed = Case(When(kind=EvaluationKind.WITHDRAWAL, then=-1), default=1)
    active = rows.values_list("annotator_id", "result_id").annotate(left=Sum(signed))
    people: dict[int, list[int]] = defaultdict(list)
    for annotator, result, _ in active.filter(left__gt=0):
        people[annotator].append(result)
    names = dict(User.objects.filter(pk__in=people).order_by().values_list("pk", "username"))
    reviewed, overturned = (
        {one.result for one in some} for some in (reviews, reviews.matching(OVERTURNED))
    )
    return [
        (name, n, sum(result in overturned for result in people[pk]))
        for pk, name in names.items()
        if (n := sum(result in reviewed for result in people[pk]))
    ]


def overrides_of(
    reviews: Sequence[Review], reader: User, hidden: Collection[int] | None = None
) -> list[Override]:
    """Return these reviews with their verdicts and, where this reader may read them, reasons.

    Args:
        hidden: The results that are `hidden_from` the reader; None: ask.
    """
    if not reviews:
        return []
    if hidden is None:
        hidden = hidden_from(reader)
    ids = [review.result for review in reviews if review.result not in hidden]
    record(reader, ids)
    results = {pk: figures for pk, *figures in _reviewed(ids)}
    verdicts = _active(ids, reader)
    return [
        _override(review, results[review.result], verdicts[review.result])
        for review in reviews
        if review.result in verdicts and review.result in results
    ]


def _override(
    review: Review, figures: Sequence[Any], verdicts: tuple[datetime, Sequence[Verdict]]
) -> Override:
    issue, label, model, judged, score, is_disputed = figures
    when, given = verdicts
    return Override(
        review, issue, label, model, judged, score, bool(is_disputed), when, tuple(given)
    )


def _reviewed(results: Collection[int]) -> QuerySet[Any, Any]:
    rows = Result.objects.filter(IdIn("pk", results)).order_by()
    named = ("issue__title", "run__label", "run__model_name")
    return rows.values_list("pk", *named, "judges_score", "score", "is_disputed")


_READ = (
    *("result", "kind", "option", "value", "justification", "created_at"),
    *("annotator__username", "criterion__key", "criterion__order"),
)


def _active(results: Collection[int], reader: User) -> dict[int, tuple[datetime, list[Verdict]]]:
    """Return each result's active evaluations, newest first, after the time of its last one.

    The last one may be a withdrawal: `reviews_of` is in the order of these. Two queries.
    """
    rows = HumanEvaluation.objects.filter(result__in=results)
    open_to = set(rows.readable_by(reader).values_list("pk", flat=True))
    by_criterion: dict[tuple[int, int], list[HumanEvaluation]] = defaultdict(list)
    last: dict[int, datetime] = {}
    for row in rows.select_related("annotator", "criterion").only(*_READ).order_by("pk"):
        by_criterion[row.result_id, row.criterion_id].append(row)
        last[row.result_id] = row.created_at
    active = [row for given in by_criterion.values() for row in active_evaluations(given)]
    found: dict[int, list[Verdict]] = defaultdict(list)
    for row in sorted(active, key=lambda row: row.pk, reverse=True):
        verdict = Verdict(
            who=row.annotator.username,
            kind=row.kind,
            criterion=None if row.criterion.key == WHOLE_TEST else row.criterion.order,
            option=row.option,
            value=row.value,
            why=row.justification if row.pk in open_to else "",
        )
        found[row.result_id].append(verdict)
    return {result: (last[result], verdicts) for result, verdicts in found.items()}
