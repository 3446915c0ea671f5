"""Two runs of the same tests as people and as judges see them, and which answers people read.

The model: tests in issues of equal size, each issue with a rate of its own (Beta-distributed, a
correlation of 0.2 within issues). Some tests truly change, lost and won. A judge errs by a leniency
that it shares with other judges, with the answers to one test and with the tests of one issue
(latent normal); people do not err.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.people.reading_plan import allotment
from evalhub.statistics.people.sides import Side, is_telling

Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]

CORRELATION = 0.2
SHARED = {"issue": 0.1, "test": 0.15}
"""Parts of a judge's leniency that are the issue's, and the test's in either run."""


class Judge(NamedTuple):
    """Shares of right answers that a judge passes, and of wrong ones that it fails."""

    sensitivity: float
    specificity: float


GOOD, KIND, POOR = Judge(0.92, 0.85), Judge(0.95, 0.70), Judge(0.88, 0.70)
PASSES_ALL, PERFECT, KNOWS_NOTHING = Judge(1.0, 0.0), Judge(1.0, 1.0), Judge(0.5, 0.5)


@dataclass(frozen=True)
class World:
    """Two runs.

    Attributes:
        judges: Of the first and of the second run.
        rate: Pass rate of the first run, for people.
        change: True change of the pass rate.
        changed: Share of the tests that truly change.
        jury: Judges of each run: their verdict is that of the majority.
        together: Part of the judges' leniency that is the jury's.
    """

    judges: tuple[Judge, Judge] = (GOOD, GOOD)
    rate: float = 0.8
    change: float = 0.0
    changed: float = 0.1
    tests: int = 600
    issues: int = 60
    jury: int = 1
    together: float = 0.5


class Runs(NamedTuple):
    """What people and the jury say of both answers of each test, shape (2, tests)."""

    world: World
    issues: NDArray[np.int64]
    human: Floats
    judged: Floats
    split: Chosen

    @property
    def telling(self) -> Chosen:
        return is_telling(*self.judged, *self.split)


def runs(world: World, rng: np.random.Generator) -> Runs:
    issues = np.arange(world.tests) * world.issues // world.tests
    odds = 1 / CORRELATION - 1
    rates = rng.beta(odds * world.rate, odds * (1 - world.rate), world.issues)[issues]
    first = rng.random(world.tests) < rates
    lost, won = (world.changed - world.change) / 2, (world.changed + world.change) / 2
    flips = np.where(first, lost / world.rate, won / (1 - world.rate))
    human = np.array([first, first ^ (rng.random(world.tests) < flips)])
    verdicts = _verdicts(world, issues, human, rng)
    share = verdicts.mean(axis=0)
    judged = (share > 0.5).astype(np.float64)
    return Runs(world, issues, human.astype(np.float64), judged, (share > 0) & (share < 1))


def _verdicts(
    world: World, issues: NDArray[np.int64], human: Chosen, rng: np.random.Generator
) -> Chosen:
    """Return each judge's verdicts, shape (jury, 2, tests)."""
    of_issue = rng.standard_normal(world.issues)[issues]
    of_test = rng.standard_normal(world.tests)
    of_jury = rng.standard_normal((2, world.tests))
    own = rng.standard_normal((world.jury, 2, world.tests))
    together = world.together if world.jury > 1 else 0.0
    rest = 1 - sum(SHARED.values())
    leniency = (
        SHARED["issue"] ** 0.5 * of_issue
        + SHARED["test"] ** 0.5 * of_test
        + (rest * together) ** 0.5 * of_jury
        + (rest * (1 - together)) ** 0.5 * own
    )
    most = np.array(
        [
            np.where(passes, _quantile(judge.sensitivity), _quantile(1 - judge.specificity))
            for judge, passes in zip(world.judges, human, strict=True)
        ]
    )
    return np.asarray(leniency < most)


def _quantile(share: float) -> float:
    if not 0 < share < 1:
        return np.inf if share else -np.inf
    return NormalDist().inv_cdf(share)


def side(found: Runs, run: int, read: Chosen, strata: NDArray[np.str_]) -> Side:
    """Return a run of which these answers are read."""
    n = found.world.tests
    chances = np.ones(n)
    for name in np.unique(strata):
        of = strata == name
        chances[of] = max(read[of].mean(), 1 / n)
    return Side(
        np.arange(n),
        found.issues,
        found.judged[run],
        np.where(read, found.human[run], np.nan),
        chances,
        np.full(n, 1 / n),
        strata,
    )


def at_random(found: Runs, pairs: int, rng: np.random.Generator) -> tuple[Side, Side]:
    """Read pairs, each test with the same chance."""
    read = _some(np.ones(found.world.tests, dtype=bool), pairs, rng)
    return _sides(found, (read, read), np.full(found.world.tests, "all"))


def unpaired(found: Runs, answers: int, rng: np.random.Generator) -> tuple[Side, Side]:
    """Read so many answers of either run, of other tests."""
    read = _some(np.ones(found.world.tests, dtype=bool), answers, rng)
    return _sides(found, (read, _some(~read, answers, rng)), np.full(found.world.tests, "all"))


def planned(found: Runs, pairs: int, rng: np.random.Generator) -> tuple[Side, Side]:
    """Read pairs as a plan draws them."""
    telling = found.telling
    wanted = allotment(pairs, int(telling.sum()), int((~telling).sum()))
    read = _some(telling, wanted.telling, rng) | _some(~telling, wanted.plain, rng)
    return _sides(found, (read, read), np.where(telling, "telling", "plain"))


def looks(found: Runs, pairs: tuple[int, ...], rng: np.random.Generator) -> Iterator[Chosen]:
    """Yield which tests a plan has read at each of its looks."""
    telling = found.telling
    queues = [rng.permutation(np.flatnonzero(kind)) for kind in (telling, ~telling)]
    for n in pairs:
        read = np.zeros(found.world.tests, dtype=bool)
        for queue, due in zip(queues, allotment(n, *map(len, queues)), strict=True):
            read[queue[:due]] = True
        yield read


def sides_at(found: Runs, read: Chosen) -> tuple[Side, Side]:
    """Return both runs with these pairs read, as a plan has them."""
    return _sides(found, (read, read), np.where(found.telling, "telling", "plain"))


def _sides(found: Runs, read: tuple[Chosen, Chosen], strata: NDArray[np.str_]) -> tuple[Side, Side]:
    return side(found, 0, read[0], strata), side(found, 1, read[1], strata)


def _some(of: Chosen, n: int, rng: np.random.Generator) -> Chosen:
    chosen = np.zeros(len(of), dtype=bool)
    chosen[rng.permutation(np.flatnonzero(of))[:n]] = True
    return chosen
