"""People's figure of a run by strata, the control by judges, and what each answer adds. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.people.sides import Floats, Integers, Side

MIN_READ = 5
"""Readings below which a stratum joins another."""


@dataclass(frozen=True)
class Stratum:
    """Strata that were joined until enough was read.

    Attributes:
        names: Of what it is made of, sorted.
        share: Its answers' share of all weight, in [0, 1].
        n: Readings.
        human, judged_of_read: Means over what was read, weighted by 1 / chance; NaN without any.
        judged: Mean over all its answers.
    """

    names: tuple[str, ...]
    share: float
    n: int
    human: float
    judged_of_read: float
    judged: float


@dataclass(frozen=True)
class Stratified:
    """A run by strata.

    Attributes:
        strata: By name.
        people: Mean of the readings, each stratum with its share (H).
        control: What judges say of all answers less what they say of those read, alike (C).
        judged: What judges say of all answers (J).
        n: Readings.
        plain_human, plain_judged: What each answer adds to the error of `people` and of `control`,
            whether it is read or not, shape (answers,).
        read_human, read_judged: What it adds because it is read; 0 where it is not.
        spread: √(n / (n - 1)) of its stratum's readings.
        pull: Weight of each reading, 0 where there is none; they sum to 1.
    """

    strata: tuple[Stratum, ...]
    people: float
    control: float
    judged: float
    n: int
    plain_human: Floats
    plain_judged: Floats
    read_human: Floats
    read_judged: Floats
    spread: Floats
    pull: Floats

    @property
    def least_variance(self) -> float:
        """Of the people's figure: never less than one disagreement each way."""
        return float((self.pull**2).sum()) / self.n


def stratified(side: Side) -> Stratified | None:
    """Return the figures of a run by strata; None if nothing of it was read."""
    is_read = side.is_read
    if not is_read.any():
        return None
    n = len(side.tests)
    columns = {name: np.zeros(n) for name in ("human", "judged", "spread", "pull")}
    strata = []
    names, of = np.unique(side.strata, return_inverse=True)
    for joined in _joined(names, of[is_read], side.issues[is_read]):
        within = np.isin(of, [place for place, name in enumerate(names) if name in joined])
        chosen = within & is_read
        share = float(side.weights[within].sum())
        pull = side.weights[chosen] / side.chances[chosen]
        pull = pull / pull.sum()
        human, judged = float(pull @ side.read[chosen]), float(pull @ side.judged[chosen])
        found = int(chosen.sum())
        every = float(side.weights[within] @ side.judged[within]) / share
        strata.append(Stratum(joined, share, found, human, judged, every))
        columns["human"][within], columns["judged"][within] = human, judged
        columns["spread"][within] = np.sqrt(found / (found - 1)) if found > 1 else 1.0
        columns["pull"][chosen] = share * pull
    people = sum(one.share * one.human for one in strata)
    of_read = sum(one.share * one.judged_of_read for one in strata)
    judged = float(side.weights @ side.judged)
    read = np.where(is_read, side.read, 0.0)
    return Stratified(
        strata=tuple(strata),
        people=people,
        control=judged - of_read,
        judged=judged,
        n=int(is_read.sum()),
        plain_human=side.weights * (columns["human"] - people),
        plain_judged=side.weights * (side.judged - judged - (columns["judged"] - of_read)),
        read_human=columns["pull"] * (read - columns["human"]),
        read_judged=-columns["pull"] * (side.judged - columns["judged"]),
        spread=columns["spread"],
        pull=columns["pull"],
    )


def _joined(names: NDArray[np.str_], of: Integers, issues: Integers) -> list[tuple[str, ...]]:
    """Join strata of few readings, or of readings in one issue only, to the next smallest.

    Args:
        names: Of the strata, sorted.
        of, issues: Of each reading: the place of its stratum, and its issue.
    """
    joined: list[tuple[tuple[str, ...], int, frozenset[int]]] = [
        ((str(name),), int((of == place).sum()), frozenset(issues[of == place].tolist()))
        for place, name in enumerate(names)
    ]
    while len(joined) > 1:
        joined.sort(key=lambda one: (one[1], one[0]))
        small = next((one for one in joined if one[1] < MIN_READ or len(one[2]) < 2), None)
        if small is None:
            break
        joined.remove(small)
        other = joined.pop(0)
        both = tuple(sorted(small[0] + other[0]))
        joined.append((both, small[1] + other[1], small[2] | other[2]))
    return sorted(one for one, _, _ in joined)
