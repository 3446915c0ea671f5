"""Position bias of judges: options of a scale, answers of a pair, and texts of trials reversed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalhub.models import BatchState
from evalhub.statistics.position_bias import PositionBias, position_bias
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.swapped_query import swapped_by_model
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.figures.rate import Rate
from runs.position_bias.figures import verdicts_on_options, verdicts_on_pairs
from runs.position_bias.models import ReversedJudgeRun


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
