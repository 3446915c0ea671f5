"""The match of the tests of two runs, by the digests of their revisions. Pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runs.comparison.tested_rule import Tested


class Pair(NamedTuple):
    """A test of the first run and one of the second."""

    first: Tested
    second: Tested


class Digests(NamedTuple):
    """Digests of a whole revision, and of its prompt alone."""

    digest: str
    asked: str


@dataclass(frozen=True)
class Matching:
    """Each test of either run, in exactly one of these; only `pairs` may be compared.

    In `rubric_changed` the prompt is the same, in `text_changed` it is not.
    """

    pairs: tuple[Pair, ...]
    rubric_changed: tuple[Pair, ...]
    text_changed: tuple[Pair, ...]
    only_first: tuple[Tested, ...]
    only_second: tuple[Tested, ...]


def match(
    first: Iterable[Tested], second: Iterable[Tested], digests: Mapping[int, Digests]
) -> Matching:
    """Pair the tests of two runs, each at most once.

    Copies of one test are paired one to one: with themselves first, then in the given order.

    Args:
        digests: By revision, at least of those that only one of the runs has.
    """
    same, left = _paired(first, second, lambda tested: tested.revision_id)
    copies, left = _paired(*left, lambda tested: digests[tested.revision_id].digest)
    rubric: list[Pair] = []
    for same_question in (
        lambda tested: (tested.test_id, digests[tested.revision_id].asked),
        lambda tested: digests[tested.revision_id].asked,
    ):
        found, left = _paired(*left, same_question)
        rubric += found
    rewritten, left = _paired(*left, lambda tested: tested.test_id)
    return Matching(
        pairs=(*same, *copies),
        rubric_changed=tuple(rubric),
        text_changed=tuple(rewritten),
        only_first=tuple(left[0]),
        only_second=tuple(left[1]),
    )


Left = tuple[list[Tested], list[Tested]]


def _paired(
    first: Iterable[Tested], second: Iterable[Tested], key: Callable[[Tested], Hashable]
) -> tuple[list[Pair], Left]:
    """Return the pairs of equal keys, and the tests left of both runs."""
    waiting: dict[Hashable, list[Tested]] = defaultdict(list)
    for tested in second:
        waiting[key(tested)].append(tested)
    pairs, left = [], []
    for tested in first:
        others = waiting.get(key(tested))
        if others:
            pairs.append(Pair(tested, others.pop(0)))
        else:
            left.append(tested)
    return pairs, (left, [tested for others in waiting.values() for tested in others])


def revisions_apart(first: Sequence[Tested], second: Sequence[Tested]) -> set[int]:
    """Return the revisions whose digests `match` needs."""
    return {tested.revision_id for tested in first} ^ {tested.revision_id for tested in second}
