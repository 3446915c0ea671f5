"""The change of each test from one run to another. Pure.

The unit of every comparison is the test: its repeats become the share of them that passed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from reports.compare.matching_rule import Matching, Pair
from runs.comparison.completeness import is_enough
from runs.comparison.tested_rule import Tested

K = TypeVar("K", bound=Hashable)

DIGITS = 9
"""Differences are rounded to this many digits before they are compared."""


class Kind(StrEnum):
    """The change of a test. Only the first three kinds are compared.

    NOT_COMPARABLE: both runs have scored it, but nothing may be concluded from both: their scores
    are not comparable (`runs.comparison.comparability`), one is incomplete
    (`runs.comparison.completeness`), or another version of EvalHub made its scores.
    """

    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    ERROR = "error"
    UNSCORED = "unscored"
    PENDING = "pending"
    NOT_COMPARABLE = "not_comparable"
    RUBRIC_CHANGED = "rubric_changed"
    TEXT_CHANGED = "text_changed"
    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"


PLACES = {kind: place for place, kind in enumerate(Kind)}

FLIPS = frozenset((Kind.WORSE, Kind.BETTER))
COMPARED = frozenset((*FLIPS, Kind.SAME))
MATCHED = frozenset((*COMPARED, Kind.ERROR, Kind.UNSCORED, Kind.PENDING))


EDITED = frozenset((Kind.RUBRIC_CHANGED, Kind.TEXT_CHANGED))
HALF = 0.5

SIDE_BY_SIDE = frozenset((*COMPARED, Kind.NOT_COMPARABLE))
"""Tests that both runs have scored, whether or not their scores can be compared."""


class Compared(NamedTuple):
    """A test of either run; a run that does not have it is None.

    Attributes:
        change: Of the share of repeats that passed, in [-1, 1]; None: the test is not compared.
        times: Number of tests it stands for, of one issue and tag set, with equal outcomes in
            either run. Weight and score are then means, and its ids are 0.
    """

    kind: Kind
    first: Tested | None
    second: Tested | None
    change: float | None
    times: int = 1

    @property
    def is_bundle(self) -> bool:
        """Return whether it stands for tests without naming them."""
        return self.latest.test_id == 0

    @property
    def latest(self) -> Tested:
        """The test in the second run, whose issue, tags and weight count; else in the first."""
        tested = self.second or self.first
        assert tested is not None
        return tested

    @property
    def missing(self) -> float:
        """The share of it that is not compared, in [0, 1]: the larger one of both runs."""
        if self.kind not in MATCHED or self.first is None or self.second is None:
            return 1.0
        return max(self.first.missing, self.second.missing)

    @property
    def fails_since_edit(self) -> bool:
        """Most of its repeats passed before it was edited, and most fail now."""
        if self.kind not in EDITED or self.first is None or self.second is None:
            return False
        before, after = self.first.share, self.second.share
        return before is not None and after is not None and before >= HALF > after

    @property
    def score_change(self) -> float | None:
        """The change of its mean score; None where a run has none, or it is not compared."""
        if self.kind not in COMPARED or self.first is None or self.second is None:
            return None
        before, after = self.first.score, self.second.score
        return None if before is None or after is None else after - before


def compared(
    matching: Matching, *, is_apart: Callable[[Pair], bool] = lambda _: False
) -> tuple[Compared, ...]:
    """Return every test of either run once: flips first, worst first.

    Args:
        is_apart: Tells of which tests the scores are not comparable.
    """
    changed = {
        Kind.RUBRIC_CHANGED: matching.rubric_changed,
        Kind.TEXT_CHANGED: matching.text_changed,
    }
    found = [compared_pair(pair) for pair in matching.pairs if not is_apart(pair)]
    found += without_verdicts(compared_pair(pair) for pair in matching.pairs if is_apart(pair))
    found += [Compared(kind, *pair, None) for kind, pairs in changed.items() for pair in pairs]
    found += [Compared(Kind.ONLY_FIRST, tested, None, None) for tested in matching.only_first]
    found += [Compared(Kind.ONLY_SECOND, None, tested, None) for tested in matching.only_second]
    return tuple(in_order(found))


def without_verdicts(rows: Iterable[Compared]) -> tuple[Compared, ...]:
    """Return the tests of runs from which nothing may be concluded: no test got better or worse."""
    return tuple(
        one._replace(kind=Kind.NOT_COMPARABLE, change=None) if one.kind in COMPARED else one
        for one in rows
    )


def are_scored(rows: Iterable[Compared]) -> bool:
    """Return whether enough results of both runs are scored to conclude anything from them."""
    scored, results = [0, 0], [0, 0]
    for one in rows:
        for side, tested in enumerate((one.first, one.second)):
            if tested is not None:
                scored[side] += tested.scored * one.times
                results[side] += tested.n * one.times
    return all(map(is_enough, scored, results))


def in_order(rows: Iterable[Compared]) -> list[Compared]:
    """Sort worst first."""
    return sorted(rows, key=_place)


def _place(one: Compared) -> tuple[float, ...]:
    latest = one.latest
    return (
        PLACES[one.kind],
        -abs(one.change or 0),
        -latest.weight,
        one.score_change or 0,
        latest.issue_id,
        latest.test_id,
    )


def compared_pair(pair: Pair) -> Compared:
    """Compare a test that is unchanged in both runs."""
    before, after = pair.first.share, pair.second.share
    if before is not None and after is not None:
        change = round(after - before, DIGITS)
        kind = Kind.WORSE if change < 0 else Kind.BETTER if change > 0 else Kind.SAME
        return Compared(kind, *pair, change)
    lacking = [tested for tested in pair if not tested.scored]
    kind = Kind.UNSCORED if any(tested.unscored for tested in lacking) else Kind.PENDING
    kind = Kind.ERROR if any(tested.error for tested in lacking) else kind
    return Compared(kind, *pair, None)


@dataclass(frozen=True)
class Tally:
    """Compared tests, counted.

    `net` is their mean change, in [-1, 1]; None where there are none.
    """

    worse: int
    better: int
    same: int
    net: float | None = None

    @property
    def n(self) -> int:
        return self.worse + self.better + self.same


def counts_of(rows: Iterable[Compared]) -> Counter[Kind]:
    """Count the tests of each kind."""
    counts: Counter[Kind] = Counter()
    for one in rows:
        counts[one.kind] += one.times
    return counts


def tally_of(rows: Iterable[Compared]) -> Tally:
    return tallies_by(rows, lambda _: ("",)).get("", Tally(0, 0, 0))


def tallies_by(
    rows: Iterable[Compared], keys_of: Callable[[Tested], Iterable[K]]
) -> dict[K, Tally]:
    """Count the compared tests by each of their keys."""
    counts: dict[K, list[int]] = defaultdict(lambda: [0, 0, 0])
    changes: dict[K, float] = defaultdict(float)
    for kind, first, second, change, times in rows:
        latest = second or first
        if change is None or latest is None:
            continue
        place, moved = PLACES[kind], change * times
        for key in keys_of(latest):
            counts[key][place] += times
            changes[key] += moved
    return {
        key: Tally(worse, better, same, changes[key] / (worse + better + same))
        for key, (worse, better, same) in counts.items()
    }


def missing_share(rows: Iterable[Compared]) -> float | None:
    """The share of the tests of either run that is not compared, in [0, 1]; None without tests.

    A test counts to the share of its repeats that ended in an error, are unscored or pending;
    one without a match counts in full.
    """
    missing, n = 0.0, 0
    for one in rows:
        missing += one.missing * one.times
        n += one.times
    return missing / n if n else None
