"""Where people's verdicts on one answer differ, who gave them, and who settled it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from runs.scoring.active_evaluations import DIGITS, active_evaluations, withdrawn

ADJUDICATION, WITHDRAWAL = "adjudication", "withdrawal"


class AnnotatorVerdict(Protocol):
    """An evaluation as the table has it; `value` is None in a withdrawal only."""

    @property
    def annotator_id(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def value(self) -> float | None: ...


V = TypeVar("V", bound=AnnotatorVerdict)


class Dispute(NamedTuple):
    """That verdicts differ: who gave them, and who settled it; None: nobody has yet."""

    parties: frozenset[int]
    settled_by: int | None


def dispute_over(evaluations: Sequence[AnnotatorVerdict]) -> Dispute | None:
    """The dispute over one criterion, or over the whole as such; None: nobody differs.

    Args:
        evaluations: All of that result and criterion, withdrawals included, oldest first.
    """
    parties = _parties(evaluations)
    return Dispute(parties, _adjudicator(evaluations)) if parties else None


def dispute_over_result(
    whole: Sequence[AnnotatorVerdict], criteria: Mapping[int, Sequence[AnnotatorVerdict]]
) -> Dispute | None:
    """The dispute over what an answer comes to.

    Verdicts on the whole outrank those on criteria: where somebody gave one, only they can differ.
    A dispute over criteria is settled by one adjudication of the whole, or by one of each.
    """
    if opinions(whole):
        return dispute_over(whole)
    found = [dispute for said in criteria.values() if (dispute := dispute_over(said))]
    if not found:
        return None
    settled = [dispute.settled_by for dispute in found]
    each = settled[-1] if None not in settled else None
    parties = frozenset[int]().union(*(dispute.parties for dispute in found))
    return Dispute(parties, _adjudicator(whole) or each)


def opinions(evaluations: Iterable[V]) -> list[V]:
    """Each person's newest verdict that is not withdrawn, adjudications aside: what they think."""
    evaluations = list(evaluations)
    undone = {id(evaluation) for evaluation in withdrawn(evaluations)}
    newest = {
        evaluation.annotator_id: evaluation
        for evaluation in evaluations
        if id(evaluation) not in undone and evaluation.kind not in (ADJUDICATION, WITHDRAWAL)
    }
    return list(newest.values())


def _parties(evaluations: Sequence[AnnotatorVerdict]) -> frozenset[int]:
    """Everybody with an opinion, where opinions differ; nobody where they do not."""
    said = opinions(evaluations)
    values = {round(one.value, DIGITS) for one in said if one.value is not None}
    return frozenset(one.annotator_id for one in said) if len(values) > 1 else frozenset()


def _adjudicator(evaluations: Sequence[AnnotatorVerdict]) -> int | None:
    """Who gave the newest adjudication that stands; None: there is none."""
    found = [
        one.annotator_id for one in active_evaluations(evaluations) if one.kind == ADJUDICATION
    ]
    return found[-1] if found else None
