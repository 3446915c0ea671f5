"""Certainty of a ranking: possible ranks, the leader, intervals of the means. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from evalhub.statistics.changes.net_change import changes_needed
from evalhub.statistics.interval import Interval
from evalhub.statistics.ranking.rank_sets import Pair, RankSet, rank_sets
from evalhub.statistics.rates.rate_interval import mean_interval
from evalhub.statistics.weighted_mean import weighted_mean
from reports.leaderboard.pairing_rule import (
    ModelPair,
    Overlap,
    Results,
    model_pairs,
    suites_of_tests,
)
from reports.leaderboard.rule import RankedModel, SuiteScore

METHOD = "mid-p sign flips on all different tests that both have scored"


class Certainty(NamedTuple):
    """A model's possible ranks, and its mean over suites.

    `interval` is None below 5 suites, and where suites share tests: they are not independent.
    """

    ranks: RankSet
    mean: float
    interval: Interval | None


@dataclass(frozen=True)
class BoardCertainty:
    """The possible ranks on a board, and the evidence behind them.

    Attributes:
        models: By model.
        pairs: All pairs of ranked models.
    """

    models: Mapping[str, Certainty]
    pairs: tuple[ModelPair, ...]
    overlap: Overlap

    @property
    def compared(self) -> int:
        """Pairs that share a test; the correction is for so many."""
        return sum(pair.p is not None for pair in self.pairs)

    @property
    def told_apart(self) -> int:
        """Pairs of which one model is better for sure."""
        return sum(one.ranks.best - 1 for one in self.models.values())

    @property
    def most_changed(self) -> int:
        """The largest number of tests or issues in which two models differ."""
        return max((pair.changed for pair in self.pairs), default=0)

    @property
    def needed(self) -> int:
        """Differing tests or issues below which no pair can be told apart: p is 2^-n at least."""
        return changes_needed(max(1, self.compared))

    @property
    def is_too_small(self) -> bool:
        """No outcome of these comparisons could tell any two models apart."""
        return self.most_changed < self.needed

    @property
    def leader(self) -> str | None:
        """The model with 1 as its only possible rank, if it has a ranked rival."""
        first = [model for model, one in self.models.items() if one.ranks == (1, 1)]
        return first[0] if first and len(self.models) > 1 else None


def certainty(ranked: Sequence[RankedModel], results: Results) -> BoardCertainty:
    """Return rank sets that hold for all models at once with 95 % (Holm over all pairs)."""
    compared = model_pairs(ranked, results)
    sets = rank_sets(
        [one.model for one in ranked],
        [Pair(pair.first, pair.second, pair.difference or 0, pair.holm) for pair in compared],
    )
    holding = suites_of_tests(ranked, results)
    repeated = sum(n > 1 for n in holding.values())
    models = {}
    for one in ranked:
        scores = [suite.score for suite in one.suites]
        if repeated:
            scores = [_without_repeats(suite, results, holding) for suite in one.suites]
        interval = None if repeated else mean_interval([(score, 1.0) for score in scores])
        models[one.model] = Certainty(sets[one.model], fmean(scores), interval)
    suites = {suite.suite for one in ranked for suite in one.suites}
    return BoardCertainty(models, tuple(compared), Overlap(len(suites), len(holding), repeated))


def _without_repeats(suite: SuiteScore, results: Results, holding: Mapping[int, int]) -> float:
    """Return the suite's score with the weight of each test shared by the suites that hold it."""
    found = [
        weighted_mean(
            [row.score for row in rows], [row.weight / holding[row.revision] for row in rows]
        )
        for run in suite.runs
        if (rows := results.get(run))
    ]
    scores = [score for score in found if score is not None]
    return fmean(scores) if scores else suite.score


def inputs(ranked: Sequence[RankedModel]) -> list[object]:
    """Return everything that `certainty` depends on beside the results of the runs, as JSON."""
    return [
        [one.model, [[suite.suite, suite.version, suite.score, suite.runs] for suite in one.suites]]
        for one in ranked
    ]


def by_mean(ranked: Sequence[RankedModel], sure: BoardCertainty) -> tuple[RankedModel, ...]:
    """Return the models with their means, best first, in which no test counts twice."""
    found = [replace(one, mean=sure.models[one.model].mean) for one in ranked]
    return tuple(sorted(found, key=lambda one: (-round(one.mean, 9), one.model)))
