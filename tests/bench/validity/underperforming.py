"""Runs without an underperforming issue: the share of them in which one is named all the same.

The model: every test of every issue passes at one rate; repeats of a test agree fully or not at
all. From "The unit of evidence": at most 5 % of such runs may name any issue.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from reports.underperforming.rule import Counted, issue_comparisons
from tests.bench.validity import Check

BOUND = (0.0, 0.05)
RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SHAPES = ((10, 8), (20, 12))
"""Issues, and tests of each."""

REPEATS = ((1, False), (3, False), (3, True))
"""Repeats of each test, and if they agree."""


def false_alarms(
    rate: float, shape: tuple[int, int], *, repeats: int, agree: bool, runs: int, seed: int = 1
) -> float:
    """Return the share of runs in which any issue is named, in [0, 1]."""
    rng = np.random.default_rng(seed)
    drawn = 1 if agree else repeats
    named = 0
    for _ in range(runs):
        passes = (rng.random((*shape, drawn)) < rate).sum(axis=2) * (repeats // drawn)
        issues = {
            issue: [Counted(int(passed), repeats) for passed in tests]
            for issue, tests in enumerate(passes)
        }
        named += any(
            one.is_below for one in issue_comparisons(issues, {}, single=repeats == 1).issues
        )
    return named / runs


def checks() -> Iterator[Check]:
    for shape, (repeats, agree), rate in product(SHAPES, REPEATS, RATES):
        kind = "single answers" if repeats == 1 else f"{repeats} repeats"
        how = "" if repeats == 1 else ", agreeing" if agree else ", independent"
        yield Check(
            f"underperforming, none planted: {shape[0]} issues × {shape[1]} tests, "
            f"pass rate {rate:.0%}, {kind}{how}: runs that name any",
            *BOUND,
            _runs(rate, shape, repeats=repeats, agree=agree),
        )


def _runs(
    rate: float, shape: tuple[int, int], *, repeats: int, agree: bool
) -> Callable[[int], float]:
    """Return the measure with a run for every tenth draw."""
    return lambda draws: false_alarms(
        rate, shape, repeats=repeats, agree=agree, runs=max(1, draws // 10)
    )
