"""Two models compared test by test, on the suites that both ran in the same version. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.change_test import Flipped, flipped_units
from evalhub.statistics.changes.flip_distribution import flipped_p, terms_needed
from evalhub.statistics.changes.holm import holm
from reports.leaderboard.rule import RankedModel

Floats = NDArray[np.float64]


class ScoredTest(NamedTuple):
    """A scored result; `score` in [0, 1], `weight` not negative."""

    test: int
    issue: int
    weight: float
    score: float


Results = Mapping[int, Sequence[ScoredTest]]
"""The scored results of each run."""


@dataclass(frozen=True)
class ModelPair:
    """Two ranked models on the tests that both have scored.

    Attributes:
        difference: First minus second: mean over suites of the weighted mean over tests, in
            [-1, 1]; None without a shared suite.
        suites: Shared suites.
        tests: Shared tests.
        changed: Permuted units that differ: issues or tests.
        is_by_issue: Whole issues were permuted, of every suite. Otherwise p does not account for
            tests of one issue failing together.
        p: Two-sided, by paired permutation; None without a shared suite.
        holm: Corrected for all pairs of the board.
    """

    first: str
    second: str
    difference: float | None
    suites: int
    tests: int
    changed: int
    is_by_issue: bool
    p: float | None
    holm: float | None = None

    def seen_from(self, model: str) -> "ModelPair":
        """Return this pair with the model first."""
        if model == self.first:
            return self
        difference = None if self.difference is None else -self.difference
        return replace(self, first=self.second, second=self.first, difference=difference)


@dataclass(frozen=True)
class _Suite:
    """A suite in one version: each model's mean score of each test, NaN if it has none."""

    rows: Mapping[str, int]
    scores: Floats
    weights: Floats
    issues: NDArray[np.int64]


def model_pairs(ranked: Sequence[RankedModel], results: Results) -> list[ModelPair]:
    """Compare all models in pairs, corrected for all pairs.

    If two models were equal, each test could as well have had their scores swapped, and so could
    each issue, whose tests tend to fail together. Whole issues are permuted where the models differ
    in so many that p can become significant among all pairs of the board. Where they differ in
    fewer, whole issues are permuted in suites of which they share 6 or more, and tests in others:
    suites of a single issue could else tell nobody apart. The statistic is the difference of their
    means over the shared suites, each suite counting once.
    """
    suites = _suites(ranked, results)
    models = [one.model for one in ranked]
    twos = list(combinations(models, 2))
    needed = terms_needed(max(1, len(twos)))
    pairs = [_pair(*two, suites, needed) for two in twos]
    corrected = holm([one.p for one in pairs])
    return [replace(one, holm=p) for one, p in zip(pairs, corrected, strict=True)]


def _suites(ranked: Sequence[RankedModel], results: Results) -> list[_Suite]:
    runs: dict[tuple[int, str], dict[str, tuple[int, ...]]] = defaultdict(dict)
    for one in ranked:
        for suite in one.suites:
            runs[suite.suite, suite.version][one.model] = suite.runs
    return [
        _suite({model: [row for run in some for row in results.get(run, ())] for model, some in by})
        for by in (models.items() for models in runs.values())
        if len(by) > 1
    ]


def _suite(by_model: Mapping[str, Sequence[ScoredTest]]) -> _Suite:
    every = {row.test: row for rows in by_model.values() for row in rows}
    place = {test: i for i, test in enumerate(sorted(every))}
    scores = np.full((len(by_model), len(place)), np.nan)
    for line, rows in zip(scores, by_model.values(), strict=True):
        if rows:
            places = [place[row.test] for row in rows]
            counts = np.bincount(places, minlength=len(place))
            sums = np.bincount(places, [row.score for row in rows], minlength=len(place))
            line[counts > 0] = sums[counts > 0] / counts[counts > 0]
    return _Suite(
        rows={model: i for i, model in enumerate(by_model)},
        scores=scores,
        weights=np.array([every[test].weight for test in place], dtype=np.float64),
        issues=np.array([every[test].issue for test in place], dtype=np.int64),
    )


class _Shared(NamedTuple):
    """The tests of a suite that two models share, each with its part in their difference there."""

    parts: Floats
    issues: NDArray[np.int64]


def _pair(first: str, second: str, suites: Iterable[_Suite], needed: int) -> ModelPair:
    """Compare two models; whole issues are permuted if they differ in `needed`."""
    found = [
        shared
        for suite in suites
        if first in suite.rows and second in suite.rows
        if (shared := _shared(suite, first, second)) is not None
    ]
    if not found:
        return ModelPair(first, second, None, 0, 0, 0, is_by_issue=False, p=None)
    units = _units(found, needed)
    return ModelPair(
        first=first,
        second=second,
        difference=float(units.terms.sum()),
        suites=len(found),
        tests=sum(len(one.parts) for one in found),
        changed=len(units.terms),
        is_by_issue=units.is_by_issue,
        p=flipped_p(units.terms.tolist()),
    )


def _units(shared: Sequence[_Shared], needed: int) -> Flipped:
    """Return what is permuted; it sums up to the mean difference over the suites."""
    parts = np.concatenate([one.parts for one in shared]) / len(shared)
    whole = flipped_units(parts, np.concatenate([one.issues for one in shared]), least=needed)
    if whole.is_by_issue:
        return whole
    each = [flipped_units(one.parts, one.issues, changed_only=False) for one in shared]
    terms = np.concatenate([units.terms for units in each]) / len(shared)
    return Flipped(terms, is_by_issue=all(units.is_by_issue for units in each))


def _shared(suite: _Suite, first: str, second: str) -> _Shared | None:
    """Return what two models share of a suite; None: nothing."""
    away = suite.scores[suite.rows[first]] - suite.scores[suite.rows[second]]
    both = ~np.isnan(away)
    weight = suite.weights[both].sum()
    if not weight:
        return None
    return _Shared(suite.weights[both] * away[both] / weight, suite.issues[both])
