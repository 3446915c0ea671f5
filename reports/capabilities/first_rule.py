"""The evidence that the first model of a list is ahead of each other one. Pure."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from evalhub.statistics.changes.flip_distribution import flipped_p
from evalhub.statistics.changes.holm import holm

METHOD = "exact sign flips of paired differences, Holm over all pairs of models"


class Weighted(NamedTuple):
    weight: float
    value: float


class AgainstFirst(NamedTuple):
    """A model against the first of its list.

    Attributes:
        shared: What both were scored on.
        p: Two-sided and corrected; None for the first itself, or where they share nothing.
    """

    shared: int
    p: float | None


def against_first(
    lists: Sequence[Sequence[Mapping[Hashable, Weighted]]],
) -> list[list[AgainstFirst]]:
    """Test the first model of each list against each other one, on what both were scored on.

    The first is chosen for its score, so p is corrected for all pairs of models of all lists (Holm;
    pairs without the first count as p = 1).

    Args:
        lists: Of each model, best first, its values by what was scored.
    """
    found = [[_against(models[0], model) for model in models] for models in lists]
    plain = [one.p for models in found for one in models[1:]]
    pairs = sum(len(models) * (len(models) - 1) // 2 for models in lists)
    corrected = iter(holm([*plain, *[1.0] * (pairs - len(plain))]))
    return [
        [one._replace(p=next(corrected) if place else None) for place, one in enumerate(models)]
        for models in found
    ]


def _against(
    first: Mapping[Hashable, Weighted], other: Mapping[Hashable, Weighted]
) -> AgainstFirst:
    shared = [key for key in other if key in first]
    terms = [other[key].weight * (first[key].value - other[key].value) for key in shared]
    return AgainstFirst(len(shared), flipped_p(terms) if shared else None)
