"""Disputes: differing human evaluations of one answer, and their adjudication. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from runs.scoring.active_evaluations import DIGITS, active_evaluations, withdrawn

ADJUDICATION, WITHDRAWAL = "adjudication", "withdrawal"


class AnnotatorVerdict(Protocol):
    """A row of human evaluations; `value` None: a withdrawal."""

    @property
    def annotator_id(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def value(self) -> float | None: ...


V = TypeVar("V", bound=AnnotatorVerdict)


class Dispute(NamedTuple):
    """The annotators who disagree, and the adjudicator; None while unresolved."""

    parties: frozenset[int]
    settled_by: int | None


def dispute_over(evaluations: Sequence[AnnotatorVerdict]) -> Dispute | None:
    """Return the dispute over one criterion, or over the whole by itself; None: no dispute.

    Args:
        evaluations: All of that result and criterion, withdrawals included, oldest first.
    """
    parties = _parties(evaluations)
    return Dispute(parties, _adjudicator(evaluations)) if parties else None


def dispute_over_result(
    whole: Sequence[AnnotatorVerdict], criteria: Mapping[int, Sequence[AnnotatorVerdict]]
) -> Dispute | None:
    """Return the dispute over a result.

    Verdicts on the whole outrank those on criteria: if there are any, only they can differ. One
    adjudication of the whole resolves a dispute over criteria, as does one of each criterion.
    """
    if opinions(whole):
        return dispute_over(whole)
    found = [dispute for rows in criteria.values() if (dispute := dispute_over(rows))]
    if not found:
        return None
    settled = [dispute.settled_by for dispute in found]
    each = settled[-1] if None not in settled else None
    parties = frozenset[int]().union(*(dispute.parties for dispute in found))
    return Dispute(parties, _adjudicator(whole) or each)


def opinions(evaluations: Iterable[V]) -> list[V]:
    """Return each annotator's newest verdict that is not withdrawn, adjudications aside."""
    evaluations = list(evaluations)
    undone = {id(evaluation) for evaluation in withdrawn(evaluations)}
    newest = {
        evaluation.annotator_id: evaluation
        for evaluation in evaluations
        if id(evaluation) not in undone and evaluation.kind not in (ADJUDICATION, WITHDRAWAL)
    }
    return list(newest.values())


def _parties(evaluations: Sequence[AnnotatorVerdict]) -> frozenset[int]:
    """Return all annotators with an opinion, if opinions differ; else nobody."""
    found = opinions(evaluations)
    values = {round(one.value, DIGITS) for one in found if one.value is not None}
    return frozenset(one.annotator_id for one in found) if len(values) > 1 else frozenset()


def _adjudicator(evaluations: Sequence[AnnotatorVerdict]) -> int | None:
    """Return the annotator of the newest active adjudication."""
    found = [
        one.annotator_id for one in active_evaluations(evaluations) if one.kind == ADJUDICATION
    ]
    return found[-1] if found else None
