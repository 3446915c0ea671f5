"""Certainty of a ranking: possible ranks, the significant leader, intervals of the means. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.statistics.changes.flip_distribution import terms_needed
from evalhub.statistics.interval import Interval
from evalhub.statistics.ranking.rank_sets import Pair, RankSet, rank_sets
from evalhub.statistics.rates.rate_interval import mean_interval
from reports.leaderboard.pairing_rule import ModelPair, Results, model_pairs
from reports.leaderboard.rule import RankedModel

METHOD = "paired permutation of tests within suites"


class Certainty(NamedTuple):
    """A model's possible ranks, and the interval of its mean; None below 5 suites."""

    ranks: RankSet
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

    @property
    def compared(self) -> int:
        """Pairs that share a suite; the correction is for so many."""
        return sum(pair.p is not None for pair in self.pairs)

    @property
    def told_apart(self) -> int:
        """Pairs of which one model is significantly better."""
        return sum(one.ranks.best - 1 for one in self.models.values())

    @property
    def most_changed(self) -> int:
        """The largest number of tests or issues in which two models differ."""
        return max((pair.changed for pair in self.pairs), default=0)

    @property
    def needed(self) -> int:
        """Differing tests or issues below which no pair can be significant."""
        return terms_needed(max(1, self.compared))

    @property
    def is_too_small(self) -> bool:
        """No outcome of these comparisons could tell any two models apart."""
        return self.most_changed < self.needed

    @property
    def leader(self) -> str | None:
        """The model with 1 as its only possible rank, if it has a ranked rival."""
        first = [model for model, one in self.models.items() if one.ranks == (1, 1)]
        return first[0] if first and len(self.models) > 1 else None

    def largest_p(self, model: str) -> float:
        """Return the largest corrected p of this model's comparisons."""
        found = [p.holm for p in self.pairs if model in (p.first, p.second) and p.holm is not None]
        return max(found, default=1.0)


def certainty(ranked: Sequence[RankedModel], results: Results) -> BoardCertainty:
    """Return rank sets that hold for all models at once with 95 % (Holm over all pairs)."""
    compared = model_pairs(ranked, results)
    sets = rank_sets(
        [one.model for one in ranked],
        [Pair(pair.first, pair.second, pair.difference or 0, pair.holm) for pair in compared],
    )
    models = {
        one.model: Certainty(
            sets[one.model], mean_interval([(suite.score, 1.0) for suite in one.suites])
        )
        for one in ranked
    }
    return BoardCertainty(models, tuple(compared))


def inputs(ranked: Sequence[RankedModel]) -> list[object]:
    """Return everything that `certainty` depends on beside the results of the runs, as JSON."""
    return [
        [one.model, [[suite.suite, suite.version, suite.score, suite.runs] for suite in one.suites]]
        for one in ranked
    ]
