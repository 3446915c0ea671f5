"""The runs of a suite that are comparable: only these are ranked together.

A suite's scale is that of its baseline. Without one, it is the scale on which most models have a
run, of equal ones that of the newest run.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.leaderboard.rule import SuiteRun
from runs.comparability import Comparable, Scoring, comparability


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
    runs: Iterable[tuple[SuiteRun, Scoring]], baselines: Mapping[int, int]
) -> ComparableRuns:
    """Return the runs that may be ranked together in their suites, and which are left out.

    Args:
        baselines: The baseline of each suite that has one.
    """
    by_suite: dict[int, list[tuple[SuiteRun, Scoring]]] = defaultdict(list)
    for took, scoring in sorted(runs, key=lambda one: (one[0].at, one[0].run)):
        by_suite[took.suite].append((took, scoring))
    counted: list[SuiteRun] = []
    apart: list[Apart] = []
    like: dict[int, int] = {}
    for suite, found in sorted(by_suite.items()):
        scale = _scale(found, baselines.get(suite))
        *_, like[suite] = (took.run for took, one in found if one == scale)
        counted += [took for took, one in found if comparability(scale, one)]
        newest: dict[Hashable, tuple[SuiteRun, Scoring]] = {}
        for took, one in found:
            newest[took.model, took.variant] = took, one
        apart += [
            Apart(took.run, like[suite], refused)
            for took, one in newest.values()
            if not (refused := comparability(scale, one))
        ]
    return ComparableRuns(tuple(counted), tuple(apart), like)


def _scale(found: Sequence[tuple[SuiteRun, Scoring]], baseline: int | None) -> Scoring:
    """Return the scale of a suite with these runs, oldest first."""
    for took, scoring in found:
        if took.run == baseline:
            return scoring
    models = {
        place: len({took.model for took, one in found if comparability(scoring, one)})
        for place, scoring in {one.key: (i, one) for i, (_, one) in enumerate(found)}.values()
    }
    return found[max(models, key=lambda place: (models[place], place))][1]
