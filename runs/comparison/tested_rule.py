"""A test in a run, its repeats added up: the unit of every comparison. Pure."""

from collections import defaultdict
from collections.abc import Sequence
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
