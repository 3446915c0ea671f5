"""Which evaluations of people stand, and what they come to together. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

DIGITS = 9


class Evaluation(NamedTuple):
    """What scoring needs of one evaluation. `value` is None in a withdrawal only."""

    annotator: int
    kind: str
    value: float | None


class Verdict(NamedTuple):
    """What people say of a result: values of those that count, and whether they differ."""

    values: list[float]

    @property
    def score(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def is_disputed(self) -> bool:
        return len({round(value, DIGITS) for value in self.values}) > 1


def standing(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Each annotator's newest that is not withdrawn, in the order in which they were made.

    A withdrawal undoes its annotator's last evaluation, so that the one before stands again.
    """
    stacks: dict[int, list[tuple[int, Evaluation]]] = defaultdict(list)
    for order, evaluation in enumerate(evaluations):
        stack = stacks[evaluation.annotator]
        if evaluation.kind != "withdrawal":
            stack.append((order, evaluation))
        elif stack:
            stack.pop()
    return [evaluation for _, evaluation in sorted(stack[-1] for stack in stacks.values() if stack)]


def verdict_of(evaluations: Iterable[Evaluation]) -> Verdict | None:
    """What people say, from all evaluations of one result, oldest first; None: nothing stands.

    The newest adjudication outranks all else.
    """
    left = standing(evaluations)
    if not left:
        return None
    adjudications = [e for e in left if e.kind == "adjudication"]
    counting = adjudications[-1:] or left
    return Verdict([e.value for e in counting if e.value is not None])
