"""Champions: the models graded best in one dimension over enough suites. Pure.

Grades are an analyst model's, from 1 to 10. The latest summary of each suite counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from reports.leaderboard.rule import Excluded, needs

MIN_SUITES = 5


class Graded(NamedTuple):
    """A model's grade in one dimension in the latest summary of one suite."""

    model: str
    suite: int
    dimension: str
    grade: float


@dataclass(frozen=True)
class Mean:
    """The mean of a model's grades in one dimension, from 1 to 10, and those of each suite."""

    model: str
    grade: float
    by_suite: Mapping[int, float]

    @property
    def suites(self) -> int:
        return len(self.by_suite)


@dataclass(frozen=True)
class Dimension:
    """Models graded in one dimension: those with enough suites, best first, and the others.

    `champions` are the best, several with equal means; empty if none has enough suites.
    """

    key: str
    ranked: tuple[Mean, ...]
    excluded: tuple[Excluded, ...]

    @property
    def champions(self) -> tuple[Mean, ...]:
        return tuple(m for m in self.ranked if round(m.grade - self.ranked[0].grade, 9) == 0)


Means = Mapping[str, Mapping[str, Mean]]
"""By dimension and model."""


def mean_grades(graded: Iterable[Graded]) -> Means:
    """Average grades over suites by dimension and model, first within each suite."""
    found: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in graded:
        found[one.dimension, one.model][one.suite].append(one.grade)
    means: dict[str, dict[str, Mean]] = defaultdict(dict)
    for (dimension, model), suites in found.items():
        by_suite = {suite: fmean(grades) for suite, grades in suites.items()}
        means[dimension][model] = Mean(model, fmean(by_suite.values()), by_suite)
    return means


def champions(means: Means, *, least: int = MIN_SUITES) -> list[Dimension]:
    """Rank the models in each dimension, by its name."""
    return [_dimension(key, models, least) for key, models in sorted(means.items())]


def _dimension(key: str, means: Mapping[str, Mean], least: int) -> Dimension:
    by_grade = sorted(means.values(), key=lambda mean: (-round(mean.grade, 9), mean.model))
    return Dimension(
        key,
        ranked=tuple(mean for mean in by_grade if mean.suites >= least),
        excluded=tuple(
            Excluded(mean.model, needs(least, "suite", mean.suites))
            for mean in by_grade
            if mean.suites < least
        ),
    )
