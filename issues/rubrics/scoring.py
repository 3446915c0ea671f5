"""From the values that judges gave to the score of a result, in [0, 1]."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from evalhub.statistics.weighted_mean import weighted_mean
from issues.rubrics.scales import BINARY

MOST_CRITERIA = 300
"""Points that one rubric may have, however it is written."""

WHOLE_TEST = ""
"""Key of the criterion that stands for the test as a whole."""


@dataclass(frozen=True)
class Point:
    """One criterion with what was found.

    `value` is the consensus of its judges, or a check's, before inversion: how far the text shows
    it, in [0, 1], None where none gave a value. `inverted` is a "should not": showing it is bad.
    `alternative` None: required; points of one polarity with equal numbers are one way among
    others. A `mandatory` point that is not met makes the whole score 0.
    """

    key: str
    value: float | None
    weight: float = 1.0
    inverted: bool = False
    alternative: int | None = None
    mandatory: bool = False

    @property
    def score(self) -> float | None:
        """How good this is, in [0, 1]; None where there is no value."""
        return inverted(self.value) if self.inverted else self.value


def consensus(values: Sequence[float | None]) -> float | None:
    """Mean of the judges that answered, not rounded; a failed judge (None) is not a vote.

    None where none of them answered.
    """
    answered = [value for value in values if value is not None]
    return fsum(answered) / len(answered) if answered else None


def jury_value(samples: Mapping[Any, Sequence[float | None]]) -> float | None:
    """The consensus of a panel: the mean over its judges of each one's mean over its samples.

    Args:
        samples: Each judge's values for one criterion, by judge (None: a check); a sample that
            failed is None.
    """
    return consensus([consensus(values) for values in samples.values()])


def inverted(value: float | None) -> float | None:
    """1 - value: what a value means where showing something is bad. None stays None."""
    return None if value is None else 1 - value


def score_of(
    points: Iterable[Point], is_met: Callable[[float], bool | None] = BINARY.passes
) -> float | None:
    """The score of a rubric: Σ w·s / Σ w over its required points and its ways.

    Points without a score take their weight with them. The best of the ways to succeed counts as
    one point of weight 1, and so does the worst of the ways to fail ("should not" points with an
    alternative): showing any of those is the fault. A way is the weighted mean of its points.

    A verdict on the whole test (key "") is the score itself, whatever the criteria say.

    Args:
        points: Of one result, in any order.
        is_met: Whether a score, in [0, 1], meets a mandatory point; above 0.5 unless told.

    Returns:
        The score in [0, 1]; 0 where a mandatory point is not met; None where nothing could be
        scored, or a mandatory point could not.
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
    return _weighted([*(p for p in points if p.alternative is None), *_alternatives(points)])


def _alternatives(points: Iterable[Point]) -> list[Point]:
    """The best way to succeed and the worst way to fail, as points of weight 1."""
    alternatives: dict[bool, dict[int, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        if point.alternative is not None:
            alternatives[point.inverted][point.alternative].append(point)
    found = []
    for is_fault, grouped in alternatives.items():
        scores = [
            score
            for alternative in grouped.values()
            if (score := _weighted(alternative)) is not None
        ]
        found += [Point("alternatives", min(scores) if is_fault else max(scores))] if scores else []
    return found


def _weighted(points: Sequence[Point]) -> float | None:
    return weighted_mean([point.score for point in points], [point.weight for point in points])
