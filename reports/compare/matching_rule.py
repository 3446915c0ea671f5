"""The match of the tests of two runs, by the digests of their revisions. Pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Tested(NamedTuple):
    """The results of a test in one run as judges scored them, its repeats added up.

    Attributes:
        weight: With which it counts in the run's score.
        result_id: Of the first repeat.
        n: All results, including pending ones.
        lowest: Results that pass whatever is missing; `highest` of them may pass.
        score_sum: Over the `with_score` ones.
        overridden: Results with a human verdict.
    """

    revision_id: int
    test_id: int
    issue_id: int
    tag_set_id: int
    weight: float
    result_id: int
    n: int
    passed: int
    failed: int
    error: int
    unscored: int
    lowest: int
    highest: int
    with_score: int
    score_sum: float
    overridden: int

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def pending(self) -> int:
        return self.n - self.passed - self.failed - self.error - self.unscored

    @property
    def share(self) -> float | None:
        """The share of scored repeats that passed; None where none is scored."""
        scored = self.passed + self.failed
        return self.passed / scored if scored else None

    @property
    def score(self) -> float | None:
        """The mean score of its repeats, in [0, 1]; None where none has a score."""
        return self.score_sum / self.with_score if self.with_score else None

    @property
    def missing(self) -> float:
        """The share of its repeats that are not scored, in [0, 1]."""
        return 1 - (self.passed + self.failed) / self.n


def together(parts: Sequence[Tested]) -> Tested:
    """Add up one revision over several runs; the labels are those of the first."""
    if len(parts) == 1:
        return parts[0]
    added = Tested._fields[Tested._fields.index("n") :]
    return parts[0]._replace(**{name: sum(getattr(part, name) for part in parts) for name in added})


def pooled(runs: Sequence[Sequence[Tested]]) -> Sequence[Tested]:
    """Add up runs test by test; the labels of a test are those of the first run that has it."""
    if len(runs) == 1:
        return runs[0]
    parts: dict[int, list[Tested]] = defaultdict(list)
    for tests in runs:
        for tested in tests:
            parts[tested.revision_id].append(tested)
    return [together(tests) for tests in parts.values()]


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
