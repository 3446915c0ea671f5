"""Possible scores of a rubric before any answer: weighting in words, and figures. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from issues.rubrics.scoring import Point, score_of


class PossibleScore(NamedTuple):
    """Score of an answer of this kind, in [0, 1]; None if unscored."""

    name: str
    description: str
    score: float | None


KINDS: tuple[tuple[str, str, Callable[[Point], float]], ...] = (
    (
        "Perfect",
        "meets every “should” and no “should not”",
        lambda point: 0.0 if point.inverted else 1.0,
    ),
    ("Half", "meets every criterion by half", lambda point: 0.5),
    ("Empty", "meets no criterion", lambda point: 0.0),
)


def possible_scores(
    points: Sequence[Point],
    is_met: Callable[[float], bool | None],
    never_scored: Iterable[str] = (),
) -> list[PossibleScore]:
    """Score a perfect, a half and an empty answer by this rubric.

    Args:
        points: Points of the rubric; their values are ignored.
        is_met: Returns True if a score meets a mandatory point.
        never_scored: Keys of points that cannot be scored here.
    """
    unscored = set(never_scored)
    found = []
    for name, description, value_of in KINDS:
        answered = [
            replace(point, value=None if point.key in unscored else value_of(point))
            for point in points
        ]
        found.append(PossibleScore(name, description, score_of(answered, is_met)))
    return found


def in_words(points: Sequence[Point]) -> list[str]:
    """Explain the weighting in sentences that name points by their places, from 1."""
    required: list[int] = []
    alternatives: dict[bool, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, point in enumerate(points, 1):
        if point.alternative is None:
            required.append(place)
        else:
            alternatives[point.inverted][point.alternative].append(place)
    mandatory = [place for place, point in enumerate(points, 1) if point.mandatory]
    effect = "if not met, the whole score is 0."
    return [
        *([f"{_are(required)} required, counted by weight."] if required else []),
        *(_alternatives(grouped, is_fault) for is_fault, grouped in sorted(alternatives.items())),
        *([f"{_are(mandatory)} mandatory: {effect}"] if mandatory else []),
    ]


def _alternatives(grouped: dict[int, list[int]], is_fault: bool) -> str:
    named = [
        f"alternative {number} ({_listed(places)})" for number, places in sorted(grouped.items())
    ]
    goal, chosen = ("fail", "worst") if is_fault else ("succeed", "best")
    if len(named) == 1:
        return f"To {goal}: {named[0]}, counted as one criterion of weight 1."
    many = " or ".join([", ".join(named[:-1]), named[-1]])
    return f"To {goal}, any one suffices: {many}. The {chosen} counts as one criterion of weight 1."


def _are(places: list[int]) -> str:
    return f"{_listed(places).capitalize()} {'is' if len(places) == 1 else 'are'}"


def _listed(places: list[int]) -> str:
    """Return "criterion 1" or "criteria 1, 3 to 5 and 9"."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    parts = [
        part
        for run in runs
        for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{'criterion' if len(places) == 1 else 'criteria'} {text}"
