"""Statistics that need single judgments: pairs of judges, failures, biases and cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from django.db.models import Count, Sum

from evalhub.statistics.ranking.spearman import spearman
from issues.models import JudgeTemplate, Polarity
from issues.rubrics.scoring import consensus, inverted
from reports.documents.reading import Reading
from reports.judge_reliability.judges.pairs_rule import GivenScore, JudgePairKey, Sums, sums_of
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.models import Judgment, Result
from runs.scoring.agreement import Scales, majority, scales_of

READ = 5
"""Newest judge runs whose judgments are read: each may have a hundred thousand."""

MIN_LENGTHS = 10
"""Answers that length bias needs."""


class LengthBias(NamedTuple):
    """Correlation of one judge's scores with the length of the answers, in one judge run.

    `rho` is Spearman's, of `n` answers; None: too few of them, or one side never varies.
    """

    judge_run: int
    judge: int
    rho: float | None
    n: int


class JudgeCost(NamedTuple):
    """Cost of a judge's verdicts; `usd` None: it is `known` for none of them."""

    usd: Decimal | None = None
    known: int | None = None


@dataclass(frozen=True)
class JudgmentStatistics:
    """Statistics of the judgments of some judge runs.

    Attributes:
        pairs: Counts of the values that two judges gave for the same criterion.
        levels: All values of each scale, ascending, by its name.
        failures: Failed verdicts by judge and kind.
        lengths: By judge and judge run, the newest first.
        spent: By judge.
    """

    pairs: Sums = field(default_factory=dict)
    levels: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[int, dict[str, int]] = field(default_factory=dict)
    lengths: tuple[LengthBias, ...] = ()
    spent: dict[int, JudgeCost] = field(default_factory=dict)


class Row(NamedTuple):
    result: int
    criterion: int
    judge: int
    sample: int
    value: float | None
    template: int | None
    failure: str
    polarity: str


FIELDS = (
    *("result_id", "criterion_id", "judge_id", "sample", "value", "template_id"),
    *("failure", "criterion__polarity"),
)


def judgment_statistics(lines: Sequence[JuryLine], reading: Reading) -> JudgmentStatistics:
    """Read the judgments of the newest judge runs once and cache them; empty if not read yet."""
    read = lines[:READ]
    inputs = [
        [line.judge_run.pk, str(line.judge_run.finished_at), line.judge_run.statistics]
        for line in read
    ]
    found = reading.computed("judgments-6", inputs, JudgmentStatistics, lambda: _read(read))
    return found or JudgmentStatistics()


def _read(lines: Sequence[JuryLine]) -> JudgmentStatistics:
    judgments = Judgment.objects.filter(
        judge_run__in=[line.judge_run.pk for line in lines], judge__isnull=False, taken_from=None
    ).order_by()
    templates = set(judgments.values_list("template_id", flat=True).distinct())
    scales = scales_of(templates)
    pairs: dict[JudgePairKey, Counter[tuple[float, float]]] = defaultdict(Counter)
    failures: dict[int, Counter[str]] = defaultdict(Counter)
    lengths: list[LengthBias] = []
    for line in lines:
        scores: dict[int, dict[int, float]] = defaultdict(dict)
        for result, rows in _by_result(line):
            for between, counts in sums_of(_criteria(rows, scales)).items():
                pairs[between].update(counts)
            for row in rows:
                if row.failure:
                    failures[row.judge][row.failure] += 1
            for judge, score in _scores(rows):
                scores[judge][result] = score
        lengths += _lengths(line, scores)
    spent = judgments.values_list("judge_id").annotate(
        Sum("call__cost_usd"), Count("call__cost_usd")
    )
    return JudgmentStatistics(
        pairs={between: dict(counts) for between, counts in pairs.items()},
        levels=_levels(templates, scales),
        failures={judge: dict(kinds) for judge, kinds in failures.items()},
        lengths=tuple(lengths),
        spent={judge: JudgeCost(*cost) for judge, *cost in spent},
    )


def _by_result(line: JuryLine) -> Iterator[tuple[int, list[Row]]]:
    rows = Judgment.objects.filter(judge_run=line.judge_run, judge__isnull=False, taken_from=None)
    read = rows.order_by("result_id").values_list(*FIELDS).iterator(chunk_size=5000)
    for result, group in groupby(read, key=lambda row: row[0]):
        yield result, [Row(*row) for row in group]


def _criteria(rows: Iterable[Row], scales: Scales) -> list[dict[int, GivenScore]]:
    """Return each judge's majority of samples by criterion; a tie counts for nothing."""
    samples: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    scale_of: dict[tuple[int, int], str] = {}
    for row in rows:
        if row.value is not None:
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
    """Yield each judge's score of the answer: the mean over the criteria it scored."""
    given: dict[int, list[float | None]] = defaultdict(list)
    for row in rows:
        if row.value is not None:
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
        rho = spearman(*zip(*pairs, strict=True)) if len(pairs) >= MIN_LENGTHS else None
        found.append(LengthBias(line.judge_run.pk, judge, rho, len(pairs)))
    return found


def _levels(templates: Iterable[int | None], scales: Scales) -> dict[str, list[float]]:
    rows = JudgeTemplate.objects.filter(pk__in=[pk for pk in templates if pk])
    levels: dict[str, list[float]] = {scales[None]: []}
    for pk, scale in rows.values_list("pk", "scale"):
        levels[scales[pk]] = sorted({float(option["value"]) for option in scale["options"]})
    return levels
