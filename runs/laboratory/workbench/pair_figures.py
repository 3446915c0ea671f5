"""Ranking of a workbench's answers by each judge, from pairs of answers to one input."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from evalhub.statistics.ranking.pairwise_ranking import Game, Ranked, Standing, rankings
from issues.judge_templates.pairwise_prompt import Choice
from runs.comparison.completeness import is_enough
from runs.laboratory.pairwise.outcome_rule import OrderedChoice, PairOutcome, outcome_of
from runs.laboratory.pairwise.sentences import (
    Share,
    contradictions,
    leader_sentence,
    no_conclusion,
    position_bias,
    position_bias_sentence,
    ranks_in_words,
)
from runs.laboratory.workbench.judges import Setup
from runs.laboratory.workbench.models import BenchRow, RowPairJudgment
from runs.laboratory.workbench.pairs import (
    PairJudgments,
    RowPair,
    pair_requests,
    pairs_of,
    player_of,
)
from runs.limits import MAX_WORKBENCH_PAIRS
from runs.models import JudgmentState


@dataclass(frozen=True)
class JudgedPair:
    """A pair with a judge's judgments in both orders, as far as they are of what is asked now."""

    pair: RowPair
    judgments: list[RowPairJudgment]
    is_stale: bool

    @cached_property
    def outcome(self) -> PairOutcome:
        return outcome_of(
            [
                OrderedChoice(
                    one.order,
                    Choice(one.choice) if one.choice else None,
                    one.state == JudgmentState.FAILED,
                )
                for one in self.judgments
            ],
            (),
        )

    @property
    def better(self) -> str:
        """Return who won, "equal", or "" without an outcome."""
        first, second, _ = self.pair
        words = {Choice.FIRST: player_of(first), Choice.SECOND: player_of(second), None: ""}
        return words.get(self.outcome.choice, "equal")


@dataclass(frozen=True)
class PairFigures:
    """Outcomes of all pairs by one judge. Players of different groups met nobody in common."""

    name: str
    pairs: list[JudgedPair]

    @cached_property
    def scored(self) -> list[JudgedPair]:
        return [one for one in self.pairs if one.outcome.score is not None]

    @property
    def is_enough(self) -> bool:
        return is_enough(len(self.scored), len(self.pairs))

    @property
    def failed(self) -> int:
        return sum(one.outcome.is_failed for one in self.pairs)

    @property
    def stale(self) -> int:
        return sum(one.is_stale for one in self.pairs)

    @cached_property
    def groups(self) -> list[Ranked]:
        """Rank by games, an input standing where reports have an issue."""
        return rankings(
            [
                Game(
                    player_of(one.pair.first),
                    player_of(one.pair.second),
                    one.outcome.score or 0.0,
                    one.pair.block,
                    one.pair.block,
                )
                for one in self.scored
            ]
        )

    @property
    def standings(self) -> list[tuple[int, int, str, Standing]]:
        """Return group, place, possible ranks ("": too few pairs have an outcome) and standing."""
        return [
            (number, place, ranks_in_words(*one.ranks) if self.is_enough else "", one)
            for number, ranked in enumerate(self.groups, 1)
            for place, one in enumerate(ranked.standings, 1)
        ]

    @property
    def sentences(self) -> list[str]:
        """Name the best, or say why nothing is concluded; and how far the order decided."""
        bias = position_bias_sentence(self.bias)
        if not self.scored:
            return [bias]
        if not self.is_enough:
            return [no_conclusion(len(self.scored), len(self.pairs)), bias]
        ranked = self.groups[0]
        names = {one.player: str(one.player) for one in ranked.standings}
        leader = leader_sentence(ranked, names, what="answers")
        return [leader, *contradictions(self.groups, what="answers"), bias]

    @property
    def bias(self) -> Share | None:
        return position_bias((one.pair.block, one.outcome) for one in self.pairs)


def pair_figures(setup: Setup, rows: Sequence[BenchRow]) -> list[PairFigures]:
    """Return the figures of each judge; [] while no pair was judged, or for too many pairs."""
    kept = PairJudgments(rows)
    if not kept or len(pairs_of(rows)) > MAX_WORKBENCH_PAIRS:
        return []
    found: dict[str, PairFigures] = {}
    asked = groupby(pair_requests(setup, rows), key=lambda request: (request.pair, request.judge))
    for (pair, judge), orders in asked:
        requests = list(orders)
        current = [kept.current(request) for request in requests]
        figures = found.setdefault(judge.slot, PairFigures(judge.name, []))
        figures.pairs.append(
            JudgedPair(pair, [one for one in current if one], any(map(kept.is_stale, requests)))
        )
    return list(found.values())
