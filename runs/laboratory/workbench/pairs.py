"""The better of two answers to one input: requests of a workbench, and each judge's ranking."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby
from typing import Any, NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.gateway import request_digest
from evalhub.statistics.ranking.pairwise_ranking import Game, Ranked, Standing, rankings
from evalhub.values.digest import digest
from evalhub.work.calls.direct_caller import DirectCaller
from issues.judge_templates.pairwise_prompt import Choice, PairCase
from runs.comparison.completeness import is_enough
from runs.judging.ask_judge import ask_pair, pair_request
from runs.laboratory.pairwise.outcome_rule import OrderedChoice, PairOutcome, outcome_of
from runs.laboratory.pairwise.pairs import pair_case
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
from runs.laboratory.workbench.requests import JudgmentRequest, SavedJudgments, case_of, fields_of
from runs.limits import MAX_WORKBENCH_PAIRS
from runs.models import JudgmentState


class RowPair(NamedTuple):
    """Two answers to one input, the earlier row first; `block` numbers the input."""

    first: BenchRow
    second: BenchRow
    block: int


class PairJudge(NamedTuple):
    slot: str
    name: str
    endpoint: Endpoint


@dataclass(frozen=True)
class RowPairRequest(JudgmentRequest):
    """A judgment that a pair should have in an order; `digest` is of exactly what is asked."""

    pair: RowPair
    judge: PairJudge
    order: int
    case: PairCase
    ties: bool
    judgment_model = RowPairJudgment

    @property
    def rows(self) -> list[BenchRow]:
        return [self.pair.first, self.pair.second]

    async def ask(self, caller: DirectCaller) -> dict[str, Any]:
        """Ask the judge, as `Request.ask` does; the choice is in terms of the pair."""
        reply = await ask_pair(self.judge.endpoint, self.case, caller, ties=self.ties)
        if reply.verdict is None:
            return {**fields_of(reply, caller), "choice": ""}
        choice = reply.verdict.in_order(self.order)
        return {**fields_of(reply, caller), "choice": choice, "state": JudgmentState.OK}


def player_of(row: BenchRow) -> str:
    """Return what is ranked: the name that the answer is by, else the row alone."""
    return row.answered_by.strip() or f"Row {row.place}"


def pairs_of(rows: Iterable[BenchRow]) -> list[RowPair]:
    """Return all pairs of answers to the same input, without those of one name."""
    groups: dict[str, list[BenchRow]] = defaultdict(list)
    for row in rows:
        if row.answer.strip() and not row.example_id:
            groups[str([row.messages, row.context])].append(row)
    return [
        RowPair(first, second, block)
        for block, group in enumerate(groups.values(), 1)
        for first, second in combinations(group, 2)
        if player_of(first) != player_of(second)
    ]


def pair_judges(setup: Setup) -> list[PairJudge]:
    """Return the models of the judges, each once, whatever their prompts."""
    endpoints = {
        each.judge.endpoint.language_model_id: each.judge.endpoint for each in setup.judges
    }
    return [
        PairJudge(f"m{pk}", f"{each.name} (scripted)" if each.is_scripted else each.name, each)
        for pk, each in endpoints.items()
    ]


def pair_requests(setup: Setup, rows: Sequence[BenchRow]) -> list[RowPairRequest]:
    """Return all requests about the pairs of these rows, each in both orders."""
    judges, found = pair_judges(setup), []
    for pair in pairs_of(rows):
        case = _case(setup, pair)
        for judge in judges:
            for order, shown in enumerate((case, case.reversed())):
                asked = _digest(judge.endpoint, shown, setup.ties)
                place = (pair.first.pk, pair.second.pk, judge.slot, order)
                found.append(RowPairRequest(place, asked, pair, judge, order, shown, setup.ties))
    return found


def _case(setup: Setup, pair: RowPair) -> PairCase:
    first, second = (case_of(setup, row) for row in (pair.first, pair.second))
    reference = first.content["reference"] or second.content["reference"]
    content = {**first.content, "reference": reference}
    return pair_case(content, first, second, criterion=setup.better)


def _digest(endpoint: Endpoint, case: PairCase, ties: bool) -> str:
    try:
        return request_digest(endpoint, *pair_request(endpoint, case, ties=ties))
    except ValueError as error:
        return digest([str(error)])


def pair_judgments_of(rows: Sequence[BenchRow]) -> SavedJudgments[RowPairJudgment]:
    return SavedJudgments(RowPairJudgment.objects.filter(first__in=rows, second__in=rows))


# Figures -----------------------------------------------------------------------------------------


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
    kept = pair_judgments_of(rows)
    if not kept or len(pairs_of(rows)) > MAX_WORKBENCH_PAIRS:
        return []
    found: dict[str, PairFigures] = {}
    asked = groupby(pair_requests(setup, rows), key=lambda request: (request.pair, request.judge))
    for (pair, judge), orders in asked:
        requests = list(orders)
        current = [kept.current(request) for request in requests]
        figures = found.setdefault(judge.slot, PairFigures(judge.name, []))
        figures.pairs.append(
            JudgedPair(pair, [one for one in current if one], any(map(kept.stale, requests)))
        )
    return list(found.values())
