"""Disputed results: the differing human evaluations, and the adjudication."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from runs.figures.verdict_labels import extent_label, verdict_label
from runs.models import EvaluationKind, HumanEvaluation, Result
from runs.scoring.active_evaluations import active_evaluations
from runs.scoring.disputes import ADJUDICATION, dispute_over, dispute_over_result, opinions


class Opinion(NamedTuple):
    """An annotator's verdict. `about` is the criterion's text; "" for the answer as a whole.

    `passed` is None for a criterion, which has no pass threshold of its own.
    """

    annotator: str
    option: str
    value: float
    passed: bool | None
    about: str
    reason: str
    created_at: datetime

    @property
    def label(self) -> str:
        """Such as "fails (0)", or the extent for a criterion."""
        if self.passed is None:
            return extent_label(self.option, None if self.option else self.value)
        label = self.option or f"{self.value:g}"
        return verdict_label(label, None, self.passed)


class Dispute(NamedTuple):
    """The differing verdicts on one result, oldest first; `settlement` None while unresolved."""

    opinions: list[Opinion]
    settlement: Opinion | None


def waiting(rows: QuerySet[Result]) -> QuerySet[Result]:
    """Select the unresolved disputes."""
    return rows.filter(is_disputed=True)


def settled(rows: QuerySet[Result]) -> QuerySet[Result]:
    """Select the results with an adjudication that are no longer disputed."""
    kind = EvaluationKind.ADJUDICATION
    adjudicated = HumanEvaluation.objects.filter(kind=kind).order_by()
    return rows.filter(is_disputed=False, pk__in=adjudicated.values("result"))


def disputes_of(results: Sequence[Result]) -> dict[int, Dispute]:
    """Read the disputes over these results, which were read with their revisions; one query.

    The texts are the reader's to see: the caller has checked.
    """
    rows = HumanEvaluation.objects.filter(result__in=[result.pk for result in results])
    evaluations: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator", "criterion").order_by("pk"):
        evaluations[row.result_id].append(row)
    return {result.pk: _dispute(result, evaluations[result.pk]) for result in results}


def _dispute(result: Result, evaluations: Iterable[HumanEvaluation]) -> Dispute:
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    whole: list[HumanEvaluation] = []
    for row in evaluations:
        (about[row.criterion_id] if row.criterion.key else whole).append(row)
    shown = opinions(whole) or [
        row for mine in about.values() if dispute_over(mine) for row in opinions(mine)
    ]
    found = [_opinion(result, row) for row in sorted(shown, key=lambda row: row.pk)]
    return Dispute(found, _settlement(result, whole, about))


def _settlement(
    result: Result,
    whole: Sequence[HumanEvaluation],
    about: Mapping[int, Sequence[HumanEvaluation]],
) -> Opinion | None:
    found = dispute_over_result(whole, about)
    if found is None or found.settled_by is None:
        return None
    left = [row for mine in (whole, *about.values()) for row in active_evaluations(mine)]
    by = [r for r in left if r.kind == ADJUDICATION and r.annotator_id == found.settled_by]
    return _opinion(result, by[0])


def _opinion(result: Result, row: HumanEvaluation) -> Opinion:
    about = row.criterion.key and (row.criterion.text or str(row.criterion))
    return Opinion(
        annotator=str(row.annotator),
        option=row.option,
        value=row.value or 0.0,
        passed=None if about else result.revision.passes(row.value),
        about=about,
        reason=row.justification,
        created_at=row.created_at,
    )
