"""The runs of a suite that are comparable: only these are ranked together.

A suite's scale is that of its newest baseline. Without one, it is the scale on which most models
have a run, of equal ones that of the newest run.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.leaderboard.rule import SuiteRun
from runs.comparison.comparability_rule import Comparable, Scoring, comparability


@dataclass(frozen=True)
class Apart:
    """The newest run of a model in a suite, where it is not comparable with the suite's others.

    Attributes:
        like: The newest run on the suite's scale.
    """

    run: int
    like: int
    comparable: Comparable


@dataclass(frozen=True)
class ComparableRuns:
    """The runs on the scales of their suites.

    Attributes:
        like: By suite, the newest run that has its scale.
    """

    counted: tuple[SuiteRun, ...]
    apart: tuple[Apart, ...]
    like: dict[int, int]


def comparable_runs(
    runs: Iterable[SuiteRun], scorings: Mapping[str, Scoring], baselines: Mapping[int, int]
) -> ComparableRuns:
    """Return the runs that may be ranked together in their suites, and which are left out.

    Args:
        runs: Oldest first.
        scorings: Of each key that a run has as its scale.
        baselines: The newest baseline of each suite that has one.
    """
    by_suite: dict[int, list[SuiteRun]] = defaultdict(list)
    for took in runs:
        by_suite[took.suite].append(took)
    counted: list[SuiteRun] = []
    apart: list[Apart] = []
    like: dict[int, int] = {}
    for suite, found in sorted(by_suite.items()):
        scale = _scale(found, scorings, baselines.get(suite))
        on_scale = {
            one: comparability(scorings[scale], scorings[one])
            for one in {took.scale for took in found}
        }
        *_, like[suite] = (took.run for took in found if took.scale == scale)
        counted += [took for took in found if on_scale[took.scale]]
        newest = {(took.model, took.variant): took for took in found}
        apart += [
            Apart(took.run, like[suite], refused)
            for took in newest.values()
            if not (refused := on_scale[took.scale])
        ]
    return ComparableRuns(tuple(counted), tuple(apart), like)


def _scale(found: Sequence[SuiteRun], scorings: Mapping[str, Scoring], baseline: int | None) -> str:
    """Return the scale of a suite with these runs, oldest first."""
    models: dict[str, set[str]] = defaultdict(set)
    for took in reversed(found):
        if took.run == baseline:
            return took.scale
        models[took.scale].add(took.model)

    def ranked_together(scale: str) -> int:
        like = [one for one in models if comparability(scorings[scale], scorings[one])]
        return len(set().union(*(models[one] for one in like)))

    return max(models, key=ranked_together)  # the newest of equal ones
