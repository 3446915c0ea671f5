"""The choice of the best judge of a benchmark: one stated rule, with ties named. Pure.

The score of a judge is the mean of its balanced accuracies over the tasks, on the claims that both
judges of a comparison have scored. The best is the one with the highest score. Each judge is tied
with it unless the 95 % interval of the difference, corrected for the number of judges, is above 0.
Judges with less than 95 % of their verdicts, or with no false claim in a task, take no part.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Generic, NamedTuple, TypeVar

from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.balanced_accuracy import balanced_accuracy
from evalhub.statistics.rates.rate_difference import rate_difference_interval
from runs.comparison.completeness import is_enough, scored_words
from runs.laboratory.trials.judges.measures import ClaimVerdict, counts_by_ideas

RULE = (
    "The best judge has the highest balanced accuracy, as the mean over tasks. Judges are tied "
    "with it unless the interval of the difference on claims that both scored is above 0."
)

K = TypeVar("K", bound=Hashable)


class TaskMean(NamedTuple):
    """Mean of the balanced accuracies over tasks, in [0, 1]."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class BestJudge(Generic[K]):
    """The judges that may be the best, highest score first; one if it is significantly better.

    `left_out` says why the others take no part.
    """

    candidates: tuple[K, ...]
    left_out: Mapping[K, str]

    @property
    def best(self) -> K | None:
        return self.candidates[0] if len(self.candidates) == 1 else None


def task_mean(verdicts: Sequence[ClaimVerdict], *, level: float = 0.95) -> TaskMean | None:
    """Return the score of a judge; None if a task has no true or no false claim with a verdict."""
    by_task: dict[str, list[ClaimVerdict]] = defaultdict(list)
    for verdict in verdicts:
        by_task[verdict.task].append(verdict)
    measured = [balanced_accuracy(counts_by_ideas(mine), level=level) for mine in by_task.values()]
    found = [one for one in measured if one]
    if not found or len(found) < len(measured):
        return None
    k = len(found)
    value = sum(one.value for one in found) / k
    return TaskMean(
        value,
        Interval(
            low=value - hypot(*(one.value - one.interval.low for one in found)) / k,
            high=value + hypot(*(one.interval.high - one.value for one in found)) / k,
        ),
    )


def best_judge(verdicts: Mapping[K, Sequence[ClaimVerdict]]) -> BestJudge[K]:
    """Choose among judges of the same claims; a single one has nobody to be better than."""
    left_out: dict[K, str] = {}
    scores: dict[K, float] = {}
    for key, mine in verdicts.items():
        scored = sum(one.verdict is not None for one in mine)
        if not is_enough(scored, len(mine)):
            left_out[key] = f"only {scored_words(scored, len(mine))}"
        elif (found := task_mean(mine)) is None:
            left_out[key] = "a task lacks true or false claims"
        else:
            scores[key] = found.value
    if not scores:
        return BestJudge((), left_out)
    first, *rivals = sorted(scores, key=lambda key: -scores[key])
    level = 1 - LEVEL / max(1, len(rivals))
    tied = [key for key in rivals if not _is_better(verdicts[first], verdicts[key], level)]
    return BestJudge((first, *tied), left_out)


def _is_better(one: Sequence[ClaimVerdict], other: Sequence[ClaimVerdict], level: float) -> bool:
    """Return whether the first judge is significantly better on claims that both have scored."""
    shared = {v.question for v in one if v.verdict is not None} & {
        v.question for v in other if v.verdict is not None
    }
    first, second = (
        task_mean([v for v in mine if v.question in shared], level=level) for mine in (one, other)
    )
    if first is None or second is None:
        return False
    difference = rate_difference_interval(
        first.value, first.interval, second.value, second.interval
    )
    return round(difference.low, 9) > 0
