"""Breakdown of a rubric's score: alternatives that counted, and criteria's shares. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from issues.rubrics.scales import BINARY
from issues.rubrics.scoring import WHOLE_TEST, Alternative, Point, alternatives_of, score_of


@dataclass(frozen=True)
class Breakdown:
    """Breakdown of a rubric's score.

    Attributes:
        score: As `issues.rubrics.scoring.score_of` gives it.
        unmet: Keys of unmet mandatory points, which make the score 0.
        unscored: Keys of points without a value, whose weight is left out.
        lost: Keys of those of them that are mandatory, so that there is no score.
        mean: Weighted mean before mandatory points; None if nothing has a value.
        alternatives: By polarity and number.
        shares: Shares of the mean, in [0, 1], by key; they add up to 1. Points without a value or
            in an alternative that did not count are left out.
    """

    score: float | None
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
    alternatives = alternatives_of(criteria)
    shares = _shares(criteria, alternatives)
    mandatory = [(p.key, p.score) for p in criteria if p.mandatory]
    scores = {point.key: point.score for point in criteria}
    return Breakdown(
        score=score_of(points, is_met),
        unmet=tuple(key for key, score in mandatory if score is not None and not is_met(score)),
        unscored=tuple(point.key for point in criteria if point.score is None),
        lost=tuple(key for key, score in mandatory if score is None),
        mean=fsum(share * (scores[key] or 0) for key, share in shares.items()) if shares else None,
        alternatives=alternatives,
        shares=shares,
    )


def _shares(points: Sequence[Point], alternatives: Sequence[Alternative]) -> dict[str, float]:
    required = [p for p in points if p.alternative is None and p.score is not None]
    counting = [(found.is_fault, found.number) for found in alternatives if found.counts]
    total = fsum(point.weight for point in required) + len(counting)
    shares = {point.key: point.weight / total for point in required}
    for name in counting:
        mine = [p for p in points if (p.inverted, p.alternative) == name and p.score is not None]
        within = fsum(point.weight for point in mine)
        shares |= {point.key: point.weight / within / total for point in mine}
    return shares
