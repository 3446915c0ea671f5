"""Requests of a workbench for the better of two answers to one input, and their judgments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.gateway import request_digest
from evalhub.values.digest import digest
from evalhub.work.direct_caller import DirectCaller
from issues.judge_templates.pairwise_prompt import PairCase
from runs.judging.ask_judge import ask_pair, pair_request
from runs.laboratory.pairwise.pairs import pair_case
from runs.laboratory.workbench.judges import Setup
from runs.laboratory.workbench.models import BenchRow, RowPairJudgment
from runs.laboratory.workbench.requests import case_of, fields_of
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
class RowPairRequest:
    """A judgment that a pair should have in an order; `digest` is of exactly what is asked."""

    pair: RowPair
    judge: PairJudge
    order: int
    case: PairCase
    ties: bool
    digest: str

    @property
    def key(self) -> tuple[int, int, str, int, str]:
        return self.pair.first.pk, self.pair.second.pk, self.judge.slot, self.order, self.digest

    @property
    def rows(self) -> list[BenchRow]:
        return [self.pair.first, self.pair.second]

    def save(self, fields: dict[str, Any]) -> None:
        names = ("first_id", "second_id", "slot", "order", "digest")
        lookup: dict[str, Any] = dict(zip(names, self.key, strict=True))
        RowPairJudgment.objects.update_or_create(**lookup, defaults=fields)

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
                found.append(RowPairRequest(pair, judge, order, shown, setup.ties, asked))
    return found


def _case(setup: Setup, pair: RowPair) -> PairCase:
    first, second = (case_of(setup, row) for row in (pair.first, pair.second))
    reference = first.content["reference"] or second.content["reference"]
    content = {**first.content, "reference": reference}
    return pair_case(content, first.output, second.output, criterion=setup.better)


def _digest(endpoint: Endpoint, case: PairCase, ties: bool) -> str:
    try:
        return request_digest(endpoint, *pair_request(endpoint, case, ties=ties))
    except ValueError as error:
        return digest([str(error)])


class PairJudgments:
    """The judgments of pairs: the ones of exactly what is asked now, and older ones by place."""

    def __init__(self, rows: Sequence[BenchRow]) -> None:
        found = RowPairJudgment.objects.filter(first__in=rows, second__in=rows)
        self._exact = {
            (row.first_id, row.second_id, row.slot, row.order, row.digest): row for row in found
        }
        self._places = {key[:4] for key in self._exact}

    def __bool__(self) -> bool:
        return bool(self._exact)

    def current(self, request: RowPairRequest) -> RowPairJudgment | None:
        return self._exact.get(request.key)

    def is_stale(self, request: RowPairRequest) -> bool:
        """Tell whether something else was asked before, and this has not been asked yet."""
        return self.current(request) is None and request.key[:4] in self._places

    def is_missing(self, request: RowPairRequest) -> bool:
        kept = self.current(request)
        return kept is None or kept.state == JudgmentState.FAILED
