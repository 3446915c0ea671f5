"""From the values that judges gave to the score of a result, in [0, 1]."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from evalhub.statistics.weighted_mean import weighted_mean

WHOLE_TEST = ""
"""Key of the criterion that stands for the test as a whole."""


class Coverage(NamedTuple):
    """How many of the expected judgments gave a value."""

    answered: int
    expected: int

    @property
    def share(self) -> float | None:
        """In [0, 1]; None where no judgment was expected."""
        return self.answered / self.expected if self.expected else None


@dataclass(frozen=True)
class Point:
    """One criterion with what was found.

    `value` is the consensus of its judges, or a check's, before inversion: how far the text shows
    it, in [0, 1], None where none gave a value. `inverted` is a "should not": showing it is bad.
    """

    key: str
    value: float | None
    weight: float = 1.0
    inverted: bool = False

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


def coverage(values: Sequence[float | None]) -> Coverage:
    """How many of these expected judgments gave a value."""
    return Coverage(sum(value is not None for value in values), len(values))


def inverted(value: float | None) -> float | None:
    """1 - value: what a value means where showing something is bad. None stays None."""
    return None if value is None else 1 - value


def score_of(points: Iterable[Point]) -> float | None:
    """Σ w·s / Σ w over the points that have a score; the rest take their weight with them.

    A verdict on the whole test (key "") is the score itself, whatever the criteria say: it was
    asked instead of them.

    Returns:
        The score in [0, 1], None where nothing could be scored.
    """
    points = list(points)
    for point in points:
        if point.key == WHOLE_TEST and point.score is not None:
            return point.score
    return weighted_mean([point.score for point in points], [point.weight for point in points])
