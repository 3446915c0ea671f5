"""The answers of a run with judges' verdicts and people's readings, as columns. Pure."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalhub.statistics.arguments import check_lengths

MOST_SKIPPED = 0.1
"""Share of the lots of a stratum that readers may skip; above it nothing is concluded."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Side(NamedTuple):
    """The answers of one run that judges have scored, read or not; columns of shape (n,).

    Attributes:
        tests, issues: Ids.
        judged: The jury's verdict of each answer, without overrides, in [0, 1].
        read: Mean of its readers' newest verdicts, in [0, 1]; NaN where nobody has read it.
        chances: With which each answer is read, in (0, 1].
        weights: Sum to 1: each test alike, shared by its repeats.
        strata: Names of what machines knew of an answer before anybody read it.
    """

    tests: Integers
    issues: Integers
    judged: Floats
    read: Floats
    chances: Floats
    weights: Floats
    strata: NDArray[np.str_]

    @property
    def is_read(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.read)

    def of(self, chosen: NDArray[np.bool_]) -> "Side":
        """Return some of the answers; their weights sum to 1 again, chances stay."""
        weights = self.weights[chosen]
        return Side(
            self.tests[chosen],
            self.issues[chosen],
            self.judged[chosen],
            self.read[chosen],
            self.chances[chosen],
            weights / weights.sum(),
            self.strata[chosen],
        )


def side_of(
    tests: Sequence[int],
    issues: Sequence[int],
    judged: Sequence[float],
    read: Sequence[float | None],
    strata: Sequence[str],
    sizes: Mapping[str, int] | None = None,
) -> Side:
    """Return a side, with the weight of each answer and its chance of being read.

    Args:
        tests: Of each answer that judges have scored, shape (n,); repeats of a test are rows.
        issues: Of these tests.
        judged: Verdicts of the jury.
        read: Means of readers' verdicts; None: nobody has read it.
        strata: Of each answer.
        sizes: All answers of each stratum, whether they came up or not; without it those here.

    Raises:
        ValueError: The columns differ in length.
    """
    check_lengths(tests=tests, issues=issues, judged=judged, read=read, strata=strata)
    readings = np.array([np.nan if one is None else one for one in read], dtype=np.float64)
    _, places, repeats = np.unique(tests, return_inverse=True, return_counts=True)
    names, of = np.unique(np.asarray(strata, dtype=np.str_), return_inverse=True)
    found = np.bincount(of, ~np.isnan(readings), minlength=len(names))
    every = np.bincount(of, minlength=len(names)).astype(np.float64)
    if sizes:
        every = np.array([sizes.get(str(name), n) for name, n in zip(names, every, strict=True)])
    return Side(
        tests=np.asarray(tests, dtype=np.int64),
        issues=np.asarray(issues, dtype=np.int64),
        judged=np.asarray(judged, dtype=np.float64),
        read=readings,
        chances=(found / every)[of],
        weights=1 / (len(repeats) * repeats[places]),
        strata=names[of],
    )


def shared(
    first: Side, second: Side, same_words: Collection[int] = ()
) -> tuple[Side, Side, float] | None:
    """Return both sides on the tests that both have, and the share of them that can differ.

    Tests whose two answers are word for word the same are no change: they leave before weights,
    strata and tuning. None if no test is left.
    """
    both = np.intersect1d(first.tests, second.tests)
    differ = both[~np.isin(both, np.asarray(list(same_words), dtype=np.int64))]
    if not len(differ):
        return None
    chosen = (side.of(np.isin(side.tests, differ)) for side in (first, second))
    return next(chosen), next(chosen), len(differ) / len(both)


def reading(verdicts: Mapping[int, float], adjudicated: float | None = None) -> float | None:
    """Return the reading of an answer: the mean of its readers' newest verdicts.

    Args:
        verdicts: By reader, each in [0, 1].
        adjudicated: A decision on a dispute, which takes their place.

    Returns:
        In [0, 1]; None: nobody has read it. Disputed answers are the hard ones: they stay.
    """
    if adjudicated is not None:
        return adjudicated
    return fmean(verdicts.values()) if verdicts else None


class Lots(NamedTuple):
    """The answers of a stratum that came up by lot, and how many of them were read and skipped.

    What is put off for later is neither, and open until the look.
    """

    stratum: str
    came_up: int
    read: int
    skipped: int


def skipped_too_often(lots: Sequence[Lots]) -> list[Lots]:
    """Return the strata of which more than a tenth of the lots were skipped."""
    return [one for one in lots if one.skipped > MOST_SKIPPED * one.came_up]


def is_telling(
    first: ArrayLike, second: ArrayLike, first_split: ArrayLike, second_split: ArrayLike
) -> NDArray[np.bool_]:
    """Return which tests say most about a change, shape (n,): the others are plain.

    Args:
        first, second: The jury's verdicts of a test's two answers.
        first_split, second_split: Whether the judges of that answer disagree.
    """
    differ = np.asarray(first) != np.asarray(second)
    return np.asarray(differ | np.asarray(first_split) | np.asarray(second_split), dtype=np.bool_)
