"""Bands of Krippendorff's alpha, of two judges with a known true alpha.

The rule: reliable only if the lower 95 % bound is at least 0.8, unreliable only if the upper is
below 0.667. So judges whose true alpha is on the other side get such a band in at most 5 % of
cases, at any number of results; and the interval covers the true alpha in about 95 %.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evalhub.statistics.agreement.alpha_bands import Band, band
from evalhub.statistics.agreement.alpha_interval import alpha_interval
from evalhub.statistics.agreement.krippendorff import alpha_from_coincidences, summed
from evalhub.statistics.agreement.krippendorff import coincidences as coincidences_of
from tests.bench.validity import Check

SIZES = (5, 10, 20, 50, 100)
CRITERIA = (1, 5)
WRONG = ((0.81, Band.UNRELIABLE), (0.68, Band.UNRELIABLE), (0.79, Band.RELIABLE))
"""True alphas and a band that each must not get."""


def checks() -> Iterator[Check]:
    for criteria in CRITERIA:
        for results in SIZES:
            where = f"{results} results × {criteria} criteria"
            for true, wrong in WRONG:
                name = f"alpha: true {true}, called {wrong}, {where}"
                yield Check(name, 0, 0.05, partial(called, wrong, true, results, criteria))
    for true, right in ((0.97, Band.RELIABLE), (0.3, Band.UNRELIABLE)):
        name = f"alpha: true {true}, called {right}, 100 results × 5 criteria"
        yield Check(name, 0.8, 1, partial(called, right, true, 100, 5))


def called(wanted: Band, true: float, results: int, criteria: int, draws: int) -> float:
    """Return the share of simulated juries that get this band.

    Both verdicts are equally frequent: chance disagreement is 1/2, so that judges disagree with
    probability (1 - alpha) / 2, independently by criterion.
    """
    rng = np.random.default_rng(round(1000 * true) + 7 * results + criteria)
    draws = max(1, draws // 25)
    return sum(_band(true, results, criteria, rng) is wanted for _ in range(draws)) / draws


def _band(true: float, results: int, criteria: int, rng: np.random.Generator) -> Band:
    first = rng.integers(0, 2, size=(results, criteria))
    second = np.where(rng.random((results, criteria)) < (1 - true) / 2, 1 - first, first)
    verdicts = np.stack([first, second], axis=2).tolist()
    clusters = [coincidences_of(units) for units in verdicts]
    alpha = alpha_from_coincidences(summed(clusters))
    interval = alpha_interval(clusters, seed=1, resamples=500)
    return band(alpha, interval, raters=2, units=results * criteria)
