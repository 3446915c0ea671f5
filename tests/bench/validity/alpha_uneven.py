"""Bands of Krippendorff's alpha where verdicts, results and juries are uneven.

From "The unit of evidence": reliable if the lower bound of the bootstrap interval over results is
at least 0.8, unreliable if the upper is below 0.667. So judges whose true alpha is on the other
side get such a band in at most 5 % of cases. Here most verdicts are passes, some results are
disputed throughout and others never, results have one criterion or many, juries have two or three
judges, and verdicts lie on a scale of five.

The true alpha is that of infinitely many results: a judge copies the true verdict with probability
r, or draws one by chance, so that alpha is the mean of r² over criteria, whatever the verdicts'
frequencies and distances; with results of unequal r it is the mean weighted by criteria.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from evalhub.statistics.agreement.alpha_bands import Band, band
from evalhub.statistics.agreement.alpha_interval import alpha_interval
from evalhub.statistics.agreement.krippendorff import alpha_from_coincidences, coincidences, summed
from tests.bench.validity import Check

SCALES = {"even": (0.5, 0.5), "90 % pass": (0.1, 0.9), "five steps": (0.1, 0.2, 0.4, 0.2, 0.1)}
"""Frequencies of the verdicts 0, 1, … of a scale."""


class World(NamedTuple):
    """A random jury run. `disputed`: agreement differs between results, else it is the same."""

    scale: str
    judges: int
    results: int
    true: float
    disputed: bool

    def __str__(self) -> str:
        kind = "some results disputed" if self.disputed else "results alike"
        return f"{self.scale}, {self.judges} judges, {self.results} results, {kind}"


def band_of(world: World, rng: np.random.Generator) -> Band:
    """Return the band of a random jury run."""
    shares = SCALES[world.scale]
    clusters, units = [], 0
    for _ in range(world.results):
        criteria = int(rng.integers(1, 8))
        # Either all criteria of a result are agreed on, or the rest of them carry the alpha.
        agreed = rng.beta(4 * world.true, 4 * (1 - world.true)) if world.disputed else world.true
        follows = rng.random((criteria, world.judges)) < np.sqrt(agreed)
        truth = rng.choice(len(shares), size=(criteria, 1), p=shares)
        chance = rng.choice(len(shares), size=(criteria, world.judges), p=shares)
        verdicts = np.where(follows, truth, chance).astype(float)
        clusters.append(coincidences(verdicts.tolist()))
        units += criteria
    interval = alpha_interval(clusters, seed=1, resamples=300)
    alpha = alpha_from_coincidences(summed(clusters))
    return band(alpha, interval, raters=world.judges, units=units)


def called(world: World, wanted: Band, draws: int, *, seed: int = 7) -> float:
    """Return the share of such jury runs that get this band."""
    rng = np.random.default_rng(seed)
    runs = max(1, draws // 50)
    return sum(band_of(world, rng) is wanted for _ in range(runs)) / runs


def checks() -> Iterator[Check]:
    for scale in SCALES:
        for judges, results, disputed in ((2, 10, False), (3, 30, True), (2, 60, True)):
            for true, wrong in ((0.81, Band.UNRELIABLE), (0.68, Band.UNRELIABLE)):
                world = World(scale, judges, results, true, disputed)
                name = f"alpha, uneven: {world}: true {true}, called {wrong}"
                yield Check(name, 0, 0.05, partial(called, world, wrong))
            world = World(scale, judges, results, 0.79, disputed)
            name = f"alpha, uneven: {world}: true 0.79, called {Band.RELIABLE}"
            yield Check(name, 0, 0.05, partial(called, world, Band.RELIABLE))
