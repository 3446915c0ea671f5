"""Certainty of a ranking: possible ranks, and intervals of the means. Pure.

Models are compared in pairs, suite by suite, where both ran the same version of a suite.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.holm import holm
from evalhub.statistics.interval import Interval
from evalhub.statistics.rank_sets import Pair, RankSet, rank_sets
from evalhub.statistics.sign_flip import sign_flip
from reports.leaderboard.rule import RankedModel, pairs

SEED = 1


class Certainty(NamedTuple):
    """A model's possible ranks, and the bootstrap interval of its mean over suites or None."""

    ranks: RankSet
    interval: Interval | None


def certainty(ranked: Sequence[RankedModel]) -> dict[str, Certainty]:
    """Return rank sets that hold for all models at once with 95 % (Holm over all pairs)."""
    compared = pairs(ranked)
    found = [sign_flip(pair.differences, seed=SEED) for pair in compared]
    sets = rank_sets(
        [one.model for one in ranked],
        [
            Pair(pair.first, pair.second, sum(pair.differences), p)
            for pair, p in zip(compared, holm(found), strict=True)
        ],
    )
    return {
        one.model: Certainty(
            sets[one.model],
            clustered_interval(
                [suite.score for suite in one.suites],
                [1.0] * len(one.suites),
                [suite.suite for suite in one.suites],
                seed=SEED,
            ),
        )
        for one in ranked
    }


def inputs(ranked: Sequence[RankedModel]) -> list[object]:
    """Return everything that `certainty` depends on, as JSON."""
    models = [
        [one.model, [[suite.suite, suite.version, suite.score] for suite in one.suites]]
        for one in ranked
    ]
    return [SEED, models]
