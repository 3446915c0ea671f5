"""What can only be told from single judgments: who agrees with whom, who likes long answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet, Sum

from evalhub.statistics.spearman import spearman
from issues.models import JudgeTemplate, Polarity
from issues.rubrics.scoring import consensus, inverted
from reports.documents.reading import Reading
from reports.judge_reliability.judges.pairs_rule import GivenScore, JudgePairKey, Sums, sums_of
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.models import Judgment, Result
from runs.scoring.agreement import Scales, majority, scales_of

READ = 5
"""Judgings, the newest, whose judgments are read: each may have a hundred thousand."""

FEWEST_LENGTHS = 10
"""Of so few answers it is not told whether a judge likes long ones."""


class LengthBias(NamedTuple):
    """Whether one judge's scores in one judging rise with the length of the answers.

    `rho` is Spearman's, of `n` answers; None: too few of them, or one side never varies.
    """

    judge_run: int
    judge: int
    rho: float | None
    n: int


class PositionBias(NamedTuple):
    """Verdicts that a judge gave twice, the second time in reversed order.

    `changed` of `n` differ; `shift` is the mean of the second less the first, in [-1, 1].
    """

    n: int
    changed: int
    shift: float


class JudgeCost(NamedTuple):
    """What verdicts of a judge cost: those `known` of `n`; None where it is known of none."""

    usd: Decimal | None
    known: int
    n: int


@dataclass(frozen=True)
class JudgmentStatistics:
    """What the judgments of some judgings come to.

    Attributes:
        judgings: Which were read; those without any judgment left are not among them.
        pairs: How often two judges gave which values for the same criterion.
        levels: All values of each scale, ascending, by its name.
        failures: Failed verdicts by judge and kind.
        lengths: Each judge in each judging, the newest first.
        turned: By judge; those of which no verdict was asked for in reversed order are left out.
        spent: By judge.
    """

    judge_runs: tuple[int, ...]
    pairs: Sums
    levels: dict[str, list[float]]
    failures: dict[int, dict[str, int]]
    lengths: tuple[LengthBias, ...]
    turned: dict[int, PositionBias]
    spent: dict[int, JudgeCost]


class Row(NamedTuple):
    result: int
    criterion: int
    judge: int
    sample: int
    order: int
    value: float | None
    template: int | None
    failure: str
    polarity: str


FIELDS = (
    "result_id",
    "criterion_id",
    "judge_id",
    "sample",
    "order",
    "value",
    "template_id",
    "failure",
    "criterion__polarity",
)


def judgment_statistics(lines: Sequence[JuryLine], reading: Reading) -> JudgmentStatistics | None:
    """The judgments of the newest of these judgings, read once and kept; None: not read yet."""
    read = lines[:READ]
    inputs = [
        [line.judge_run.pk, str(line.judge_run.finished_at), line.judge_run.statistics]
        for line in read
    ]
    return reading.computed("judgments-1", inputs, lambda: _look(read))


def _look(lines: Sequence[JuryLine]) -> JudgmentStatistics:
    judgments = Judgment.objects.filter(
        judge_run__in=[line.judge_run.pk for line in lines], judge__isnull=False
    ).order_by()
    templates = set(judgments.values_list("template_id", flat=True).distinct())
    found = JudgmentSums(scales_of(templates))
    heard = {line.judge_run.pk: found.hear(line) for line in lines}
    return JudgmentStatistics(
        judge_runs=tuple(pk for pk, n in heard.items() if n),
        pairs={between: dict(counts) for between, counts in found.pairs.items()},
        levels=_levels(templates, found.scales),
        failures={judge: dict(kinds) for judge, kinds in found.failures.items()},
        lengths=tuple(found.lengths),
        turned={judge: _summed(pairs) for judge, pairs in found.twice.items()},
        spent={row[0]: JudgeCost(*row[1:]) for row in _spent(judgments)},
    )


@dataclass
class JudgmentSums:
    """Sums while judgments are read, one result after the other."""

    scales: Scales
    pairs: dict[JudgePairKey, Counter[tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    failures: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    twice: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    lengths: list[LengthBias] = field(default_factory=list)

    def hear(self, line: JuryLine) -> int:
        """Add up the judgments of one judging; gives on how many results there are any."""
        scores: dict[int, dict[int, float]] = defaultdict(dict)
        n = 0
        for result, rows in _by_result(line):
            n += 1
            self._add(rows)
            for judge, score in _scores(rows):
                scores[judge][result] = score
        self.lengths += _lengths(line, scores)
        return n

    def _add(self, rows: Sequence[Row]) -> None:
        for between, counts in sums_of(_criteria(rows, self.scales)).items():
            self.pairs[between].update(counts)
        for judge, pair in _turned(rows):
            self.twice[judge].append(pair)
        for row in rows:
            if row.failure:
                self.failures[row.judge][row.failure] += 1


def _by_result(line: JuryLine) -> Iterator[tuple[int, list[Row]]]:
    rows = Judgment.objects.filter(judge_run=line.judge_run, judge__isnull=False)
    read = rows.order_by("result_id").values_list(*FIELDS).iterator(chunk_size=5000)
    for result, group in groupby(read, key=lambda row: row[0]):
        yield result, [Row(*row) for row in group]


def _criteria(rows: Iterable[Row], scales: Scales) -> list[dict[int, GivenScore]]:
    """For each criterion what each judge says: the majority of its samples, a tie is nothing."""
    samples: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    scale_of: dict[tuple[int, int], str] = {}
    for row in rows:
        if row.value is not None and not row.order:
            samples[row.criterion][row.judge].append(row.value)
            scale_of[row.criterion, row.judge] = scales[row.template]
    return [
        {
            judge: GivenScore(scale_of[criterion, judge], value)
            for judge, values in judges.items()
            if (value := majority(values)) is not None
        }
        for criterion, judges in samples.items()
    ]


def _scores(rows: Iterable[Row]) -> Iterator[tuple[int, float]]:
    """How good each judge found the answer: the mean over the criteria that it spoke of."""
    given: dict[int, list[float | None]] = defaultdict(list)
    for row in rows:
        if row.value is not None and not row.order:
            turned = row.polarity == Polarity.SHOULD_NOT
            given[row.judge].append(inverted(row.value) if turned else row.value)
    for judge, values in given.items():
        if (score := consensus(values)) is not None:
            yield judge, score


def _lengths(line: JuryLine, scores: dict[int, dict[int, float]]) -> list[LengthBias]:
    answered = Result.objects.filter(run=line.run, output_tokens__isnull=False).order_by()
    tokens = dict(answered.values_list("pk", "output_tokens"))
    found = []
    for judge, mine in sorted(scores.items()):
        pairs = [(score, tokens[result]) for result, score in mine.items() if result in tokens]
        rho = spearman(*zip(*pairs, strict=True)) if len(pairs) >= FEWEST_LENGTHS else None
        found.append(LengthBias(line.judge_run.pk, judge, rho, len(pairs)))
    return found


def _turned(rows: Sequence[Row]) -> Iterator[tuple[int, tuple[float, float]]]:
    """What a judge said as it was given and in reversed order, where both were asked."""
    given = {(r.criterion, r.judge, r.sample): r.value for r in rows if not r.order}
    for row in rows:
        first = given.get((row.criterion, row.judge, row.sample))
        if row.order and row.value is not None and first is not None:
            yield row.judge, (first, row.value)


def _summed(pairs: Sequence[tuple[float, float]]) -> PositionBias:
    n = len(pairs)
    changed = sum(first != second for first, second in pairs)
    return PositionBias(n, changed, sum(second - first for first, second in pairs) / n)


def _levels(templates: Iterable[int | None], scales: Scales) -> dict[str, list[float]]:
    rows = JudgeTemplate.objects.filter(pk__in=[pk for pk in templates if pk])
    levels: dict[str, list[float]] = {scales[None]: []}
    for pk, scale in rows.values_list("pk", "scale"):
        levels[scales[pk]] = sorted({float(option["value"]) for option in scale["options"]})
    return levels


def _spent(judgments: QuerySet[Judgment]) -> QuerySet[Judgment, Any]:
    counted = judgments.values_list("judge_id")
    return counted.annotate(Sum("call__cost_usd"), Count("call__cost_usd"), Count("pk"))
