"""Figures of a workbench: each row's judgments and score, and the figures of each judge."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from django.db.models import Count, Sum

from evalhub.llm.completion import AnswerTurn
from issues.checks import Material
from issues.models import Criterion
from issues.rubrics.breakdown import Breakdown, breakdown_of
from issues.rubrics.scales import BINARY, Scale
from runs.laboratory.judging import WHOLE, Answer, Opinion, ScoredAnswer
from runs.laboratory.workbench.judges import Setup
from runs.laboratory.workbench.models import BenchRow, RowJudgment, RowPairJudgment, Workbench
from runs.laboratory.workbench.requests import (
    BenchRequest,
    SavedJudgments,
    judgments_of,
    requests_of,
)
from runs.laboratory.workbench.rule import (
    Agreement,
    PositionBias,
    Vote,
    agreement_of,
    position_bias_of,
    vote_of,
)
from runs.models import JudgmentState


@dataclass(frozen=True)
class JudgeVerdict:
    """A judge's judgments of a row on one criterion, samples in the order given.

    `turned` are those with the options reversed. Where one is stale, all are shown so, and none
    counts. `agrees` None: nothing is expected, or there is no verdict to compare.
    """

    slot: str
    name: str
    scale: Scale
    samples: list[RowJudgment]
    turned: list[RowJudgment]
    is_stale: bool
    is_asked: bool
    expected: str = ""

    @cached_property
    def vote(self) -> Vote:
        return vote_of(row.option for row in self.samples)

    @cached_property
    def turned_vote(self) -> Vote:
        return vote_of(row.option for row in self.turned)

    @property
    def counts(self) -> bool:
        return self.is_asked and not self.is_stale

    @property
    def failed(self) -> list[RowJudgment]:
        return [r for r in [*self.samples, *self.turned] if r.state == JudgmentState.FAILED]

    @property
    def value(self) -> float | None:
        """The value of the option with most votes; None for a tie or a failure."""
        if self.samples and self.samples[0].value is not None:  # a check's
            return self.samples[0].value
        option = self.scale.option_of(self.vote.option) if self.vote.option else None
        return option.value if option else None

    @property
    def agrees(self) -> bool | None:
        known = {option.label for option in self.scale.options}
        if not self.counts or not self.vote.option or self.expected not in known:
            return None
        return self.vote.option == self.expected

    @property
    def is_turned(self) -> bool | None:
        """Tell whether the verdict changed with the order; None: not measured."""
        if not self.counts or not (self.vote.option and self.turned_vote.option):
            return None
        return self.vote.option != self.turned_vote.option


@dataclass(frozen=True)
class CriterionVerdicts:
    point: Criterion
    expected: str
    target: str
    verdicts: list[JudgeVerdict]

    @property
    def key(self) -> str:
        return self.point.key


@dataclass(frozen=True)
class RowFigures:
    """A row with its verdicts. `scored` None: nothing that counts. `missing` are calls to make."""

    row: BenchRow
    criteria: list[CriterionVerdicts]
    scored: ScoredAnswer | None
    breakdown: Breakdown | None
    missing: int


class JudgeFigures(NamedTuple):
    name: str
    agreement: Agreement
    bias: PositionBias
    ties: int
    failed: int


@dataclass
class BenchFigures:
    """`cost_usd` is without the `unpriced` judgments, of unknown cost; `missing` are to be made."""

    rows: list[RowFigures]
    judges: list[JudgeFigures]
    cost_usd: Decimal
    unpriced: int
    missing: int


def figures_of(setup: Setup, bench: Workbench, rows: Sequence[BenchRow]) -> BenchFigures:
    """Return the figures of rows that the user may read."""
    kept = judgments_of(rows)
    found = [row_figures(setup, row, kept) for row in rows]
    costs = [
        judgments.filter(call__isnull=False).aggregate(
            total=Sum("cost_usd", default=0), unpriced=Count("pk") - Count("cost_usd")
        )
        for judgments in (
            RowJudgment.objects.filter(row__workbench=bench),
            RowPairJudgment.objects.filter(first__workbench=bench),
        )
    ]
    return BenchFigures(
        rows=found,
        judges=_judge_figures(found),
        cost_usd=sum((cost["total"] for cost in costs), Decimal(0)),
        unpriced=sum(cost["unpriced"] for cost in costs),
        missing=sum(each.missing for each in found),
    )


def row_figures(setup: Setup, row: BenchRow, kept: SavedJudgments[RowJudgment]) -> RowFigures:
    requests = requests_of(setup, row)
    by_place: dict[tuple[str, str], list[BenchRequest]] = defaultdict(list)
    for request in requests:
        by_place[request.place.key, request.place.slot].append(request)
    criteria = []
    for point in setup.points or [WHOLE]:
        mine = [found for (key, _), found in by_place.items() if key == point.key]
        expected = row.expected.get(point.key, "")
        criteria.append(
            CriterionVerdicts(
                point,
                expected,
                setup.targets.get(point.key, ""),
                [_verdict(each, kept, expected) for each in mine],
            )
        )
    opinions = _opinions(criteria)
    scored = breakdown = None
    if any(opinions.values()):
        draft = setup.draft_of(row)
        answer = Answer("", draft, [AnswerTurn(text=row.answer)], None, Material(row.answer))
        scored = setup.judging.scored(answer, opinions)
        points = [judged.point() for judged in scored.criteria]
        breakdown = breakdown_of(points, setup.prompt.scale.passes) if setup.points else None
    return RowFigures(
        row,
        criteria,
        scored,
        breakdown,
        missing=sum(kept.is_missing(request) for request in requests),
    )


def _verdict(
    requests: list[BenchRequest], kept: SavedJudgments[RowJudgment], expected: str
) -> JudgeVerdict:
    first = requests[0]
    current = [(r, kept.current(r)) for r in requests]
    older = [(r, kept.stale(r)) for r in requests]
    is_stale = any(row for _, row in older)
    shown = [(r, row or old) for (r, row), (_, old) in zip(current, older, strict=True)]
    name = first.judge.name if first.judge else f"check “{first.point.check_name}”"
    return JudgeVerdict(
        slot=first.place.slot,
        name=name,
        scale=first.template.scale if first.template else BINARY,
        samples=[row for r, row in shown if row and not r.place.order],
        turned=[row for r, row in shown if row and r.place.order],
        is_stale=is_stale,
        is_asked=any(row for _, row in shown),
        expected=expected,
    )


def _opinions(criteria: Sequence[CriterionVerdicts]) -> dict[str, list[Opinion]]:
    """Return what scores a row: one opinion per judge, that of most of its samples.

    With a target option, an opinion is worth 1 if it is that one, else 0.
    """
    found: dict[str, list[Opinion]] = {}
    for criterion in criteria:
        opinions: list[Opinion] = []
        found[criterion.key] = opinions
        for verdict in criterion.verdicts:
            if not verdict.counts or verdict.value is None:
                continue
            option, value = verdict.vote.option, verdict.value
            if criterion.target and not criterion.point.check_name:
                value = float(option == criterion.target)
            opinions.append(Opinion(verdict.name, option, value, "", judge_id=len(opinions)))
    return found


def _judge_figures(rows: Sequence[RowFigures]) -> list[JudgeFigures]:
    """Return the figures of each judge, in the order of the first row; checks have none."""
    found: dict[str, list[list[JudgeVerdict]]] = {}
    for row in rows:
        by_slot: Mapping[str, list[JudgeVerdict]] = _by_slot(row)
        for slot, verdicts in by_slot.items():
            found.setdefault(slot, []).append(verdicts)
    return [_figures(rows_of_judge) for slot, rows_of_judge in found.items() if slot != "check"]


def _by_slot(row: RowFigures) -> dict[str, list[JudgeVerdict]]:
    found: dict[str, list[JudgeVerdict]] = defaultdict(list)
    for criterion in row.criteria:
        for verdict in criterion.verdicts:
            found[verdict.slot].append(verdict)
    return found


def _figures(rows: Sequence[Sequence[JudgeVerdict]]) -> JudgeFigures:
    compared = [[v.agrees for v in verdicts if v.agrees is not None] for verdicts in rows]
    counting = [v for verdicts in rows for v in verdicts if v.counts]
    return JudgeFigures(
        name=rows[0][0].name,
        agreement=agreement_of([(sum(each), len(each)) for each in compared if each]),
        bias=position_bias_of((v.vote.option, v.turned_vote.option) for v in counting),
        ties=sum(v.vote.is_tie for v in counting),
        failed=sum(len(v.failed) for v in counting),
    )
