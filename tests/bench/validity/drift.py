"""Series of runs of a model that does not change, and of one that does.

From "The unit of evidence" and "multiplicity": a page of series may call any of them drifted in at
most 5 % of cases where no model changed, however many runs a series has, although each is judged by
the two runs that are furthest apart; and a model that loses half of its score is found.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from reports.drift.rule import ScoreChange, significances
from tests.bench.validity import Check, one_in

SERIES, ISSUES, TESTS = 5, 20, 5
"""Series on a page, issues, and tests of each issue."""

SLOW = 8
"""One page in so many draws."""

REDRAWN = 0.2
"""Share of answers that differ from the model's usual one, at temperature 0."""


def pages_told(runs: int, loss: float, draws: int) -> float:
    """Return the share of pages that call a model drifted; one loses `loss` before its last run."""
    rng = np.random.default_rng(runs)
    told = 0
    for _ in range(draws):
        series = [_series(rng, runs, loss if place == 0 else 0.0) for place in range(SERIES)]
        told += any(one.is_significant for one in significances(series, monitored=SERIES))
    return told / draws


def _series(rng: np.random.Generator, runs: int, loss: float) -> tuple[int, list[ScoreChange]]:
    """Draw the scores of every test in every run; return those of the runs furthest apart."""
    rates = np.repeat(rng.beta(4, 2, ISSUES), TESTS)
    drawn = rng.random((runs, ISSUES * TESTS)) < rates
    again = rng.random(drawn.shape) < REDRAWN
    scores = np.where(again, drawn, rng.random(ISSUES * TESTS) < rates).astype(float)
    scores[-1] *= rng.random(ISSUES * TESTS) >= loss
    means = scores.mean(axis=1)
    changes = scores[means.argmax()] - scores[means.argmin()]
    found = [ScoreChange(place // TESTS, 1.0, float(one)) for place, one in enumerate(changes)]
    return runs, found


def checks() -> Iterator[Check]:
    for runs in (2, 5, 20):
        none = partial(pages_told, runs, 0.0)
        yield Check(
            f"drift: {SERIES} unchanged series of {runs} runs", 0.0, 0.05, one_in(SLOW, none)
        )
    lost = partial(pages_told, 3, 0.5)
    yield Check(
        "drift: a model that loses half of its score is found", 0.8, 1.0, one_in(SLOW, lost)
    )
