"""Which evaluations of people stand, and what they come to together. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

DIGITS = 9


class AnnotatorEvaluation(Protocol):
    """Whose evaluation it is, and of which kind: all that decides whether it stands."""

    @property
    def annotator_id(self) -> int: ...

    @property
    def kind(self) -> str: ...


V = TypeVar("V", bound=AnnotatorEvaluation)


class Evaluation(NamedTuple):
    """What scoring needs of one evaluation. `value` is None in a withdrawal only."""

    annotator_id: int
    kind: str
    value: float | None


class HumanScore(NamedTuple):
    """What people say of a result: values of those that count, and whether they differ."""

    values: list[float]

    @property
    def score(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def is_disputed(self) -> bool:
        return len({round(value, DIGITS) for value in self.values}) > 1


def active_evaluations(evaluations: Iterable[V]) -> list[V]:
    """Each annotator's newest that is not withdrawn, in the order in which they were made.

    A withdrawal undoes its annotator's last evaluation, so that the one before stands again.

    Args:
        evaluations: All of one result and criterion, withdrawals included, oldest first.
    """
    stacks, _ = _sorted_out(evaluations)
    newest = [stack[-1] for stack in stacks if stack]
    return [evaluation for _, evaluation in sorted(newest, key=lambda pair: pair[0])]


def withdrawn(evaluations: Iterable[V]) -> list[V]:
    """Those that a withdrawal has undone; of the same evaluations as `active_evaluations`."""
    return _sorted_out(evaluations)[1]


def _sorted_out(evaluations: Iterable[V]) -> tuple[list[list[tuple[int, V]]], list[V]]:
    """Each annotator's evaluations that are left, with their places, and those undone."""
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
    """What people say, from all evaluations of one result, oldest first; None: nothing stands.

    The newest adjudication outranks all else.
    """
    left = active_evaluations(evaluations)
    if not left:
        return None
    adjudications = [e for e in left if e.kind == "adjudication"]
    counting = adjudications[-1:] or left
    return HumanScore([e.value for e in counting if e.value is not None])
