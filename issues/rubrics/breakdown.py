"""Breakdown of a rubric's score: the alternatives that counted, and each criterion's share."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from evalhub.statistics.weighted_mean import weighted_mean
from issues.rubrics.scales import BINARY
from issues.rubrics.scoring import WHOLE_TEST, Point, score_of


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


@dataclass(frozen=True)
class Breakdown:
    """Breakdown of a rubric's score.

    Attributes:
        score: As `issues.rubrics.scoring.score_of` gives it.
        is_by_whole: True if a verdict on the whole test is the score.
        unmet: Keys of unmet mandatory points, which make the score 0.
        unscored: Keys of points without a value, whose weight is left out.
        lost: Keys of those of them that are mandatory, so that there is no score.
        mean: Weighted mean before mandatory points; None if nothing has a value.
        alternatives: By polarity and number.
        shares: Shares of the mean, in [0, 1], by key; they add up to 1. Points without a value or
            in an alternative that did not count are left out.
    """

    score: float | None
    is_by_whole: bool
    unmet: tuple[str, ...]
    unscored: tuple[str, ...]
    lost: tuple[str, ...]
    mean: float | None
    alternatives: tuple[Alternative, ...]
    shares: Mapping[str, float]


def breakdown_of(
    points: Iterable[Point], is_met: Callable[[float], bool | None] = BINARY.passes
) -> Breakdown:
    """Return the breakdown of `score_of` for these points; `is_met` as there."""
    points = list(points)
    criteria = [point for point in points if point.key != WHOLE_TEST]
    alternatives = _alternatives(criteria)
    shares = _shares(criteria, alternatives)
    mandatory = [(p.key, p.score) for p in criteria if p.mandatory]
    scores = {point.key: point.score for point in criteria}
    return Breakdown(
        score=score_of(points, is_met),
        is_by_whole=any(p.key == WHOLE_TEST and p.score is not None for p in points),
        unmet=tuple(key for key, score in mandatory if score is not None and not is_met(score)),
        unscored=tuple(point.key for point in criteria if point.score is None),
        lost=tuple(key for key, score in mandatory if score is None),
        mean=fsum(share * (scores[key] or 0) for key, share in shares.items()) if shares else None,
        alternatives=alternatives,
        shares=shares,
    )


def _alternatives(points: Iterable[Point]) -> tuple[Alternative, ...]:
    grouped: dict[tuple[bool, int], list[Point]] = defaultdict(list)
    for point in points:
        if point.alternative is not None:
            grouped[point.inverted, point.alternative].append(point)
    scores = {name: _mean(grouped[name]) for name in sorted(grouped)}
    counting = {_deciding(scores, is_fault) for is_fault in (False, True)}
    return tuple(
        Alternative(name[1], name[0], score, name in counting) for name, score in scores.items()
    )


def _deciding(
    scores: Mapping[tuple[bool, int], float | None], is_fault: bool
) -> tuple[bool, int] | None:
    """Return the one that counts: the best to succeed, the worst to fail; None if none."""
    mine = {n: score for n, score in scores.items() if n[0] == is_fault and score is not None}
    extreme = min if is_fault else max
    return extreme(mine, key=lambda name: mine[name], default=None)


def _mean(points: Sequence[Point]) -> float | None:
    return weighted_mean([point.score for point in points], [point.weight for point in points])


def _shares(points: Sequence[Point], alternatives: Sequence[Alternative]) -> dict[str, float]:
    required = [p for p in points if p.alternative is None and p.score is not None]
    counting = [
        (alternative.is_fault, alternative.number)
        for alternative in alternatives
        if alternative.counts
    ]
    total = fsum(point.weight for point in required) + len(counting)
    shares = {point.key: point.weight / total for point in required}
    for name in counting:
        mine = [p for p in points if (p.inverted, p.alternative) == name and p.score is not None]
        within = fsum(point.weight for point in mine)
        shares |= {point.key: point.weight / within / total for point in mine}
    return shares
