"""Two models compared on all different tests that both were scored on. Pure.

A test revision counts once for each model, whatever number of suites holds it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import MIN_ISSUES, net_change
from evalhub.statistics.interval import Interval
from reports.leaderboard.rule import RankedModel

_DIGITS = 12
"""To which the mean of equal scores is the score again, however often it was measured."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ScoredTest(NamedTuple):
    """A scored result of a test revision; `score` in [0, 1], `weight` not negative.

    `scale` is the key of the way it was judged: only scores on one scale are compared.
    """

    revision: int
    issue: int
    weight: float
    score: float
    scale: str = ""


Results = Mapping[int, Sequence[ScoredTest]]
"""The scored results of each run."""


@dataclass(frozen=True)
class ModelPair:
    """Two ranked models on the tests that both have scored.

    Attributes:
        difference: First minus second: mean over the tests, in [-1, 1]; None without a shared test.
        tests: Shared test revisions, of so many `issues`.
        changed: Tests on which they differ, or from 5 shared issues on such issues, if fewer.
        p: Two-sided (`net_change`); None without a shared test.
        holm: Corrected for all pairs of the board.
    """

    first: str
    second: str
    difference: float | None = None
    tests: int = 0
    issues: int = 0
    changed: int = 0
    interval: Interval | None = None
    p: float | None = None
    holm: float | None = None

    @property
    def accounts_for_issues(self) -> bool:
        """Tell whether p holds where tests of one issue fail together."""
        return self.issues >= MIN_ISSUES

    def seen_from(self, model: str) -> "ModelPair":
        """Return this pair with the model first."""
        if model == self.first:
            return self
        difference = None if self.difference is None else -self.difference
        ends = self.interval and Interval(-self.interval.high, -self.interval.low)
        return replace(
            self, first=self.second, second=self.first, difference=difference, interval=ends
        )


@dataclass(frozen=True)
class _Board:
    """All different tests, on each scale: of every model its mean score, NaN if it has none.

    `scores` has the shape (models, tests on a scale); `tests` and `issues` say which they are of.
    """

    rows: Mapping[str, int]
    scores: Floats
    tests: Integers
    issues: Integers


def model_pairs(ranked: Sequence[RankedModel], results: Results) -> list[ModelPair]:
    """Compare all models in pairs, corrected for all pairs."""
    board = _board(ranked, results)
    pairs = [_pair(*two, board) for two in combinations(board.rows, 2)]
    corrected = holm([one.p for one in pairs])
    return [replace(one, holm=p) for one, p in zip(pairs, corrected, strict=True)]


def pairs_with_first(ranked: Sequence[RankedModel], results: Results) -> list[ModelPair]:
    """Compare the first model with each other one, not corrected."""
    board = _board(ranked, results)
    models = list(board.rows)
    return [_pair(models[0], other, board) for other in models[1:]]


def _board(ranked: Sequence[RankedModel], results: Results) -> _Board:
    runs = {one.model: [run for suite in one.suites for run in suite.runs] for one in ranked}
    mine = {
        model: [row for run in some for row in results.get(run, ())] for model, some in runs.items()
    }
    every = {(row.revision, row.scale): row.issue for rows in mine.values() for row in rows}
    place = {key: n for n, key in enumerate(sorted(every))}
    scores = np.full((len(mine), len(place)), np.nan)
    for line, rows in zip(scores, mine.values(), strict=True):
        if rows:
            places = [place[row.revision, row.scale] for row in rows]
            counts = np.bincount(places, minlength=len(place))
            sums = np.bincount(places, [row.score for row in rows], minlength=len(place))
            line[counts > 0] = np.round(sums[counts > 0] / counts[counts > 0], _DIGITS)
    return _Board(
        rows={model: n for n, model in enumerate(mine)},
        scores=scores,
        tests=np.array([revision for revision, _ in place], dtype=np.int64),
        issues=np.array([every[key] for key in place], dtype=np.int64),
    )


def _pair(first: str, second: str, board: _Board) -> ModelPair:
    apart = board.scores[board.rows[first]] - board.scores[board.rows[second]]
    both = ~np.isnan(apart)
    _, at, of = np.unique(board.tests[both], return_index=True, return_inverse=True)
    changes = np.round(np.bincount(of, apart[both]) / np.bincount(of), _DIGITS) if at.size else at
    issues = board.issues[both][at]
    found = net_change(changes.tolist(), issues.tolist())
    if found is None:
        return ModelPair(first, second)
    changed = int(np.count_nonzero(changes))
    if found.accounts_for_issues:
        changed = min(changed, len(np.unique(issues[changes != 0])))
    return ModelPair(
        *(first, second, found.change, found.tests, found.issues, changed),
        *(found.interval, found.p),
    )


@dataclass(frozen=True)
class Overlap:
    """How many suites and different tests a board has, and tests that two suites or more hold."""

    suites: int
    tests: int
    repeated: int


def suites_of_tests(ranked: Sequence[RankedModel], results: Results) -> dict[int, int]:
    """Return in how many suites of the board each test revision was scored."""
    pairs = {
        (row.revision, suite.suite)
        for one in ranked
        for suite in one.suites
        for run in suite.runs
        for row in results.get(run, ())
    }
    holding: dict[int, int] = {}
    for revision, _ in pairs:
        holding[revision] = holding.get(revision, 0) + 1
    return holding
