"""Disputes: differing human evaluations of one answer, and their adjudication. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from runs.scoring.active_evaluation_rule import (
    DIGITS,
    AnnotatorVerdict,
    V,
    active_evaluations,
    remaining,
)

ADJUDICATION = "adjudication"


class Dispute(NamedTuple):
    """The annotators who disagree, and the adjudicator; None while unresolved."""

    parties: frozenset[int]
    settled_by: int | None


def dispute_over(evaluations: Sequence[AnnotatorVerdict]) -> Dispute | None:
    """Return the dispute over one criterion, or over the whole by itself; None: no dispute.

    Args:
        evaluations: All of that result and criterion, withdrawals included, oldest first.
    """
    found = opinions(evaluations)
    if len({round(one.value, DIGITS) for one in found if one.value is not None}) < 2:
        return None
    return Dispute(frozenset(one.annotator_id for one in found), _adjudicator(evaluations))


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
    left = [row for row in remaining(evaluations) if row.kind != ADJUDICATION]
    return list({row.annotator_id: row for row in left}.values())


def _adjudicator(evaluations: Sequence[AnnotatorVerdict]) -> int | None:
    """Return the annotator of the newest active adjudication."""
    found = [
        one.annotator_id for one in active_evaluations(evaluations) if one.kind == ADJUDICATION
    ]
    return found[-1] if found else None
