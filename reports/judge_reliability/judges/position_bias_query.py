"""Position bias of judges: options of a scale, answers of a pair, and texts of trials reversed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.expressions import ExpressionWrapper
from django.db.models.fields import BooleanField

from evalhub.models import BatchState
from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import changes_needed, is_significant
from evalhub.statistics.judges.position_bias import PositionBias, position_bias
from reports.documents.cells import share_without_interval
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.figures.rate import Rate
from runs.laboratory.position_bias.figures import verdicts_on_options, verdicts_on_pairs
from runs.laboratory.position_bias.models import ReversedJudgeRun
from runs.laboratory.trials.judges.measures import is_consistent
from runs.laboratory.trials.models import ClaimJudgment, ClaimKind


def swapped_by_model(language_models: Iterable[int]) -> dict[int, Rate]:
    """Return the share of pairs with inconsistent verdicts by language model, in one query.

    Pairs without a score in both orders do not count.
    """
    turned = ClaimJudgment.objects.filter(trial=OuterRef("trial"), claim=OuterRef("claim"), order=1)
    pairs = ClaimJudgment.objects.filter(
        trial__language_model__in=set(language_models), order=0, score__isnull=False
    ).annotate(turned=Subquery(turned.values("score")[:1]))
    rows = (
        pairs.exclude(turned=None)
        .annotate(
            is_first=_holds(Q(score__gte=F("trial__threshold"))),
            is_second=_holds(Q(turned__gte=F("trial__threshold"))),
        )
        .order_by()
        .values_list("trial__language_model", "claim__kind", "is_first", "is_second")
        .annotate(n=Count("pk"))
    )
    changed: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for model, kind, first, second, n in rows:
        asked[model] += n
        if not is_consistent(bool(first), bool(second), is_rank=kind == ClaimKind.RANK):
            changed[model] += n
    return {model: share_without_interval(changed[model], n) for model, n in asked.items()}


def _holds(condition: Q) -> ExpressionWrapper:
    return ExpressionWrapper(condition, output_field=BooleanField())


OPTIONS, PAIRS, TEXTS = "options of the scale", "answers of a pair", "texts in trials"
FIRST = {OPTIONS: "the option listed first", PAIRS: "the answer shown first"}
LAST = {OPTIONS: "the option listed last", PAIRS: "the answer shown second"}


@dataclass(frozen=True)
class PositionBiases:
    """Position bias by judge, and by language model where the judge's prompt plays no part.

    `swapped` is the share of verdicts of trials that changed with the order of two texts. `live`
    are the judge runs whose measure is at work.
    """

    options: Mapping[int, PositionBias] = field(default_factory=dict)
    pairs: Mapping[int, PositionBias] = field(default_factory=dict)
    swapped: Mapping[int, Rate] = field(default_factory=dict)
    live: frozenset[int] = frozenset()


def position_biases(lines: Sequence[JuryLine], judges: Sequence[JudgeLine]) -> PositionBiases:
    """Measure all that was judged in both orders in these judge runs; a constant number of queries.

    Pairs of answers are those of these runs.
    """
    judge_runs = {line.judge_run.pk for line in lines}
    options = verdicts_on_options(judge_runs)
    models = {one.language_model_id for one in judges} - {None}
    pairs = verdicts_on_pairs({line.run.pk for line in lines})
    live = ReversedJudgeRun.objects.filter(judge_run__in=judge_runs, state=BatchState.LIVE)
    return PositionBiases(
        options={pk: found for pk, mine in options.items() if (found := position_bias(mine))},
        pairs={
            pk: found
            for pk, mine in pairs.items()
            if pk in models and (found := position_bias(mine))
        },
        swapped=swapped_by_model(pk for pk in models if pk is not None),
        live=frozenset(live.order_by().values_list("judge_run", flat=True)),
    )


@dataclass(frozen=True)
class BiasRow:
    """A judge on what was reversed. `bias` None: no direction was or can be tested.

    `p` is corrected for all rows of the table (Holm), with `needed` tests or issues to show any.
    """

    judge: JudgeLine
    shown: str
    changed: Rate | None
    bias: PositionBias | None = None
    p: float | None = None
    needed: int = changes_needed(1)

    @property
    def favours(self) -> str:
        """Return the place that the judge favours significantly; "" if none is shown."""
        if self.bias is None or not self.bias.direction or not is_significant(self.p):
            return ""
        return (FIRST if self.bias.direction > 0 else LAST)[self.shown]

    @property
    def finding(self) -> str:
        """Return the conclusion on the direction; "" where none was tested."""
        if self.bias is None:
            return ""
        if self.favours:
            return f"favours {self.favours}. {self.bias.test.caveat}".removesuffix(". ")
        if self.bias.moved < self.needed:
            return f"too few changes to tell: {self.bias.moved} of {self.needed} needed"
        return "no direction shown"


def bias_rows(biases: PositionBiases, judges: Sequence[JudgeLine]) -> list[BiasRow]:
    """Return all that was measured, with p corrected over all of it, and what was not."""
    rows = [row for judge in judges for row in _rows_of(judge, biases)]
    tested = [row.bias.test.p if row.bias else None for row in rows]
    needed = changes_needed(max(1, sum(p is not None for p in tested)))
    return [
        BiasRow(row.judge, row.shown, row.changed, row.bias, p, needed)
        for row, p in zip(rows, holm(tested), strict=True)
    ]


def _rows_of(judge: JudgeLine, biases: PositionBiases) -> Iterator[BiasRow]:
    model = judge.language_model_id or 0
    options, pairs = biases.options.get(judge.judge_id), biases.pairs.get(model)
    yield BiasRow(judge, OPTIONS, _rate(options) if options else None, options)
    if pairs:
        yield BiasRow(judge, PAIRS, _rate(pairs), pairs)
    if swapped := biases.swapped.get(model):
        yield BiasRow(judge, TEXTS, swapped)


def _rate(bias: PositionBias) -> Rate:
    share = bias.changed / bias.n
    return Rate(bias.changed, bias.n, share, bias.interval, bias.method)
