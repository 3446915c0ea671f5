"""Active human evaluations and the score they make. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

DIGITS = 9


class AnnotatorEvaluation(Protocol):
    """An evaluation's annotator and kind, which decide whether it is active."""

    @property
    def annotator_id(self) -> int: ...

    @property
    def kind(self) -> str: ...


class AnnotatorVerdict(AnnotatorEvaluation, Protocol):
    """A row of human evaluations; `value` None: a withdrawal."""

    @property
    def value(self) -> float | None: ...


V = TypeVar("V", bound=AnnotatorEvaluation)


class Evaluation(NamedTuple):
    """The fields of a human evaluation that scoring needs; `value` None: a withdrawal.

    `drawn`: blind, on a randomly drawn answer.
    """

    annotator_id: int
    kind: str
    value: float | None
    drawn: bool = False


class HumanScore(NamedTuple):
    """The values of the human evaluations that count."""

    values: list[float]

    @property
    def score(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def is_disputed(self) -> bool:
        return len({round(value, DIGITS) for value in self.values}) > 1


def active_evaluations(evaluations: Iterable[V]) -> list[V]:
    """Return each annotator's newest evaluation that is not withdrawn, oldest first.

    A withdrawal undoes its annotator's last evaluation and restores the one before.

    Args:
        evaluations: All of one result and criterion, withdrawals included, oldest first.
    """
    newest: dict[int, V] = {}
    for evaluation in reversed(remaining(evaluations)):
        newest.setdefault(evaluation.annotator_id, evaluation)
    return list(newest.values())[::-1]


def remaining(evaluations: Iterable[V]) -> list[V]:
    """Return the evaluations that are not withdrawn, replaced ones too, oldest first."""
    return _sorted_out(evaluations)[0]


def withdrawn(evaluations: Iterable[V]) -> list[V]:
    """Return the withdrawn evaluations; the argument is that of `active_evaluations`."""
    return _sorted_out(evaluations)[1]


def _sorted_out(evaluations: Iterable[V]) -> tuple[list[V], list[V]]:
    stacks: dict[int, list[tuple[int, V]]] = defaultdict(list)
    undone = []
    for place, evaluation in enumerate(evaluations):
        stack = stacks[evaluation.annotator_id]
        if evaluation.kind != "withdrawal":
            stack.append((place, evaluation))
        elif stack:
            undone.append(stack.pop()[1])
    left = sorted((pair for stack in stacks.values() for pair in stack), key=lambda pair: pair[0])
    return [evaluation for _, evaluation in left], undone


def drawn_evaluations(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Return the blind evaluations of a random draw, and adjudications of these.

    Withdrawn evaluations are left out, and so are later ones that were not blind.
    """
    left = remaining(evaluations)
    if not any(row.drawn for row in left):
        return []
    return [row for row in left if row.drawn or row.kind == "adjudication"]


def human_score_of(evaluations: Iterable[AnnotatorVerdict]) -> HumanScore | None:
    """Score all evaluations of one result, oldest first; None if none is active.

    The newest adjudication outranks all others.
    """
    left = active_evaluations(evaluations)
    if not left:
        return None
    adjudications = [e for e in left if e.kind == "adjudication"]
    counting = adjudications[-1:] or left
    return HumanScore([e.value for e in counting if e.value is not None])
