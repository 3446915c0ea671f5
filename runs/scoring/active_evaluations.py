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


V = TypeVar("V", bound=AnnotatorEvaluation)


class Evaluation(NamedTuple):
    """The fields of a human evaluation that scoring needs; `value` None: a withdrawal."""

    annotator_id: int
    kind: str
    value: float | None


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
    stacks, _ = _sorted_out(evaluations)
    newest = [stack[-1] for stack in stacks if stack]
    return [evaluation for _, evaluation in sorted(newest, key=lambda pair: pair[0])]


def withdrawn(evaluations: Iterable[V]) -> list[V]:
    """Return the withdrawn evaluations; the argument is that of `active_evaluations`."""
    return _sorted_out(evaluations)[1]


def _sorted_out(evaluations: Iterable[V]) -> tuple[list[list[tuple[int, V]]], list[V]]:
    """Return each annotator's remaining evaluations with their positions, and those withdrawn."""
    stacks: dict[int, list[tuple[int, V]]] = defaultdict(list)
    undone = []
    for place, evaluation in enumerate(evaluations):
        stack = stacks[evaluation.annotator_id]
        if evaluation.kind != "withdrawal":
            stack.append((place, evaluation))
        elif stack:
            undone.append(stack.pop()[1])
    return list(stacks.values()), undone


def human_score_of(evaluations: Iterable[Evaluation]) -> HumanScore | None:
    """Score all evaluations of one result, oldest first; None if none is active.

    The newest adjudication outranks all others.
    """
    left = active_evaluations(evaluations)
    if not left:
        return None
    adjudications = [e for e in left if e.kind == "adjudication"]
    counting = adjudications[-1:] or left
    return HumanScore([e.value for e in counting if e.value is not None])
