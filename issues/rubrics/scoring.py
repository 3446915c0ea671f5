"""Scores of results, in [0, 1], from the values of judges. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from evalhub.statistics.weighted_mean import weighted_mean
from issues.rubrics.scales import BINARY

MIN_WEIGHT, MAX_WEIGHT = 0.1, 10
"""Range of a criterion's weight."""

WHOLE_TEST = ""
"""Key of the test as a whole."""


@dataclass(frozen=True)
class Point:
    """A criterion with its value.

    `value` is the consensus of its judges, or a check's, before inversion: how far the text shows
    it, in [0, 1], None if unscored. `inverted` is a "should not": showing it is bad. `alternative`
    None: required; points of one polarity with the same number form one alternative. An unmet
    `mandatory` point makes the score of the rubric 0.
    """

    key: str
    value: float | None
    weight: float = 1.0
    inverted: bool = False
    alternative: int | None = None
    mandatory: bool = False

    @property
    def score(self) -> float | None:
        """The value after inversion, in [0, 1]; None if unscored."""
        return inverted(self.value) if self.inverted else self.value


@dataclass(frozen=True)
class Alternative:
    """Points with one number: an alternative to succeed, or to fail if "should not" points.

    `score` is the weighted mean of its points, in [0, 1]; None if none has a value. Of the
    alternatives of a polarity one `counts`: the best to succeed, the worst to fail.
    """

    number: int
    is_fault: bool
    score: float | None
    counts: bool


def consensus(values: Sequence[float | None]) -> float | None:
    """Return the unrounded mean of judges; a failed judge (None) is left out.

    None if all failed.
    """
    answered = [value for value in values if value is not None]
    return fsum(answered) / len(answered) if answered else None


def jury_value(samples: Mapping[Any, Sequence[float | None]]) -> float | None:
    """Return the consensus of a jury: the mean over judges of each judge's mean over samples.

    Args:
        samples: Each judge's values for one criterion, by judge (None: a check); None for a failed
            sample.
    """
    return consensus([consensus(values) for values in samples.values()])


def inverted(value: float | None) -> float | None:
    """Return 1 - value, for criteria whose showing is bad. None stays None."""
    return None if value is None else 1 - value


def score_of(
    points: Iterable[Point], is_met: Callable[[float], bool | None] = BINARY.passes
) -> float | None:
    """Return the score of a rubric: Σ w·s / Σ w over required points and alternatives.

    Unscored points take their weight with them. The best alternative to succeed counts as one point
    of weight 1, and so does the worst alternative to fail ("should not" points with an
    alternative): showing any of those is the fault. An alternative is the weighted mean of its
    points.

    A verdict on the whole test (key "") is the score itself, whatever the criteria say.

    Args:
        points: Points of one result, in any order.
        is_met: Returns True if a score, in [0, 1], meets a mandatory point; by default above 0.5.

    Returns:
        The score in [0, 1]; 0 if a mandatory point is unmet; None if nothing, or a mandatory point,
        could be scored.
    """
    points = list(points)
    whole = next((p.score for p in points if p.key == WHOLE_TEST and p.score is not None), None)
    if whole is not None:
        return whole
    mandatory = [point.score for point in points if point.mandatory]
    if None in mandatory:
        return None
    if not all(is_met(score) for score in mandatory if score is not None):
        return 0.0
    required = [point for point in points if point.alternative is None]
    counting = [Point("", found.score) for found in alternatives_of(points) if found.counts]
    return _mean([*required, *counting])


def alternatives_of(points: Iterable[Point]) -> tuple[Alternative, ...]:
    """Return the alternatives by polarity and number."""
    grouped: dict[bool, dict[int, list[Point]]] = {False: {}, True: {}}
    for point in points:
        if point.alternative is not None:
            grouped[point.inverted].setdefault(point.alternative, []).append(point)
    found = []
    for is_fault, by_number in grouped.items():
        scores = {number: _mean(by_number[number]) for number in sorted(by_number)}
        scored = {number: score for number, score in scores.items() if score is not None}
        counting = (min if is_fault else max)(scored, key=lambda n: scored[n], default=None)
        found += [Alternative(n, is_fault, score, n == counting) for n, score in scores.items()]
    return tuple(found)


def _mean(points: Sequence[Point]) -> float | None:
    return weighted_mean([point.score for point in points], [point.weight for point in points])
