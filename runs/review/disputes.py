"""Disputed results: the differing human evaluations, and the adjudication."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from runs.figures.verdict_labels import extent_label, verdict_label
from runs.models import HumanEvaluation, Result
from runs.scoring.active_evaluations import active_evaluations
from runs.scoring.disputes import ADJUDICATION, dispute_over, dispute_over_result, opinions


class Opinion(NamedTuple):
    """An annotator's verdict; `passed` is None for a criterion, which has no pass threshold."""

    evaluation: HumanEvaluation
    passed: bool | None

    @property
    def label(self) -> str:
        """Such as "fails (0)", or the extent for a criterion."""
        option, value = self.evaluation.option, self.evaluation.value
        if self.passed is None:
            return extent_label(option, None if option else value)
        return verdict_label(option or f"{value:g}", None, self.passed)


class Dispute(NamedTuple):
    """The differing verdicts on one result, oldest first; `settlement` None while unresolved."""

    opinions: list[Opinion]
    settlement: Opinion | None


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
    def opinion(row: HumanEvaluation) -> Opinion:
        return Opinion(row, None if row.criterion.key else result.revision.passes(row.value))

    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    whole: list[HumanEvaluation] = []
    for row in evaluations:
        (about[row.criterion_id] if row.criterion.key else whole).append(row)
    differing = opinions(whole) or [
        row for mine in about.values() if dispute_over(mine) for row in opinions(mine)
    ]
    settlement = None
    found = dispute_over_result(whole, about)
    if found and found.settled_by is not None:
        active = [row for mine in (whole, *about.values()) for row in active_evaluations(mine)]
        settlement = next(
            opinion(row)
            for row in active
            if row.kind == ADJUDICATION and row.annotator_id == found.settled_by
        )
    return Dispute([opinion(row) for row in sorted(differing, key=lambda row: row.pk)], settlement)
