"""Agreement of judges two by two, in sums that add up over judge runs. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.ranking.pearson import pearson_from_confusion
from evalhub.values.typed_json import ByKey
from reports.judge_reliability.accuracy_rule import RARE

MIN_CRITERIA = 5
"""Common criteria that a figure needs."""


class GivenScore(NamedTuple):
    """A judge's value for one criterion of one answer, and the name of its scale."""

    scale: str
    value: float


class JudgePairKey(NamedTuple):
    """Two judges, the one with the lower id first, and the scale on which they are compared."""

    first: int
    second: int
    scale: str


Confusion = ByKey[tuple[float, float], int]
Sums = ByKey[JudgePairKey, Confusion]


def sums_of(criteria: Iterable[Mapping[int, GivenScore]]) -> Sums:
    """Count the pairs of values that two judges gave for the same criterion, on the same scale.

    Args:
        criteria: The value of each judge, by its id, for each criterion of each answer.
    """
    found: dict[JudgePairKey, Counter[tuple[float, float]]] = defaultdict(Counter)
    for judges in criteria:
        for (first, one), (second, other) in combinations(sorted(judges.items()), 2):
            if one.scale == other.scale:
                found[JudgePairKey(first, second, one.scale)][one.value, other.value] += 1
    return {between: dict(counts) for between, counts in found.items()}


@dataclass(frozen=True)
class Pair:
    """Two judges compared on the scale that they share most criteria of.

    Attributes:
        n: Criteria for which both gave a value; `same` of them got the same one.
        kappa: Cohen's, weighted by the squared steps of the scale, which for two options is the
            plain one. None: both gave one value throughout, or there are fewer than 5 criteria.
        correlation: Pearson's, of the values; None where one of them never varies, or likewise.
        rarest: The share of the rarer verdict in all that both gave, where there are two; None
            on a finer scale.
    """

    first: int
    second: int
    n: int
    same: int
    kappa: float | None
    correlation: float | None
    rarest: float | None

    @property
    def is_lopsided(self) -> bool:
        """Return whether one verdict is so rare that kappa says little."""
        return self.rarest is not None and round(self.rarest, 9) < RARE


def pairs_in(sums: Sums, levels: Mapping[str, Sequence[float]]) -> list[Pair]:
    """Compare every two judges that gave values for the same criteria, by their ids.

    Args:
        levels: All values of each scale, ascending, by its name.
    """
    best: dict[tuple[int, int], JudgePairKey] = {}
    for between in sorted(sums, key=lambda key: (-sum(sums[key].values()), key)):
        best.setdefault(between[:2], between)
    return [_pair(key, sums[key], levels[key.scale]) for _, key in sorted(best.items())]


def _pair(between: JudgePairKey, counts: Confusion, levels: Sequence[float]) -> Pair:
    n = sum(counts.values())
    is_enough = n >= MIN_CRITERIA
    known = sorted({*levels, *(value for pair in counts for value in pair)})
    return Pair(
        first=between.first,
        second=between.second,
        n=n,
        same=sum(count for (one, other), count in counts.items() if one == other),
        kappa=kappa_from_confusion(counts, weights="quadratic", levels=known)
        if is_enough
        else None,
        correlation=pearson_from_confusion(counts) if is_enough else None,
        rarest=_rarest(counts) if len(known) == 2 else None,
    )


def _rarest(counts: Confusion) -> float:
    given: Counter[float] = Counter()
    for (one, other), count in counts.items():
        given[one] += count
        given[other] += count
    return min(given.values()) / given.total() if len(given) > 1 else 0.0


def beside_peers(judge: int, pairs: Iterable[Pair]) -> tuple[float, float] | None:
    """Return a judge's highest kappa with another judge, and the highest between two others.

    None with fewer than three judges, or where kappa is not defined.
    """
    mine: list[float] = []
    others: list[float] = []
    for pair in pairs:
        if pair.kappa is not None:
            (mine if judge in (pair.first, pair.second) else others).append(pair.kappa)
    return (max(mine), max(others)) if mine and others else None


def correlations(judges: Sequence[int], pairs: Iterable[Pair]) -> list[list[float | None]]:
    """Return the matrix of correlations, shape (judges, judges), 1 on its diagonal."""
    found = {frozenset((pair.first, pair.second)): pair.correlation for pair in pairs}
    return [
        [1.0 if one == other else found.get(frozenset((one, other))) for other in judges]
        for one in judges
    ]
