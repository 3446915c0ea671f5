"""Runs without an underperforming issue: the share of them in which one is named all the same.

The model: every test of every issue passes at one rate; repeats of a test agree fully or not at
all. From "The unit of evidence": at most 5 % of such runs may name any issue. With one issue
planted that passes 20 % where the others pass 90 %, it is named in at least 80 %.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from reports.underperforming.rule import Counted, issue_comparisons
from tests.bench.validity import Check

BOUND = (0.0, 0.05)
POWERFUL = (0.8, 1.0)
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
        named += bool(_named(passes, repeats))
    return named / runs


def power(shape: tuple[int, int], *, repeats: int, runs: int, seed: int = 2) -> float:
    """Return the share of runs that name the first issue, which passes 20 %, others 90 %."""
    rng = np.random.default_rng(seed)
    rates = np.array([0.2] + [0.9] * (shape[0] - 1))[:, None]
    named = 0
    for _ in range(runs):
        passes = rng.binomial(repeats, np.broadcast_to(rates, shape))
        named += 0 in _named(passes, repeats)
    return named / runs


def _named(passes: np.ndarray, repeats: int) -> set[int]:
    """Return the issues that are named; `passes` of each test have the shape (issues, tests)."""
    issues = {
        issue: [Counted(int(passed), repeats) for passed in tests]
        for issue, tests in enumerate(passes)
    }
    found = issue_comparisons(issues, {}, single=repeats == 1)
    return {one.issue for one in found.issues if one.is_below}


def checks() -> Iterator[Check]:
    for shape, repeats in product(SHAPES, (1, 3)):
        yield Check(
            f"underperforming, first issue passes 20%, others 90%: {shape[0]} issues × {shape[1]} "
            f"tests, {repeats} answers each: runs that name it",
            *POWERFUL,
            _powers(shape, repeats),
        )
    for shape, (repeats, agree), rate in product(SHAPES, REPEATS, RATES):
        kind = "single answers" if repeats == 1 else f"{repeats} repeats"
        how = "" if repeats == 1 else ", agreeing" if agree else ", independent"
        yield Check(
            f"underperforming, none planted: {shape[0]} issues × {shape[1]} tests, "
            f"pass rate {rate:.0%}, {kind}{how}: runs that name any",
            *BOUND,
            _runs(rate, shape, repeats=repeats, agree=agree),
        )


def _powers(shape: tuple[int, int], repeats: int) -> Callable[[int], float]:
    return lambda draws: power(shape, repeats=repeats, runs=max(1, draws // 25))


def _runs(
    rate: float, shape: tuple[int, int], *, repeats: int, agree: bool
) -> Callable[[int], float]:
    """Return the measure with a run for every tenth draw."""
    return lambda draws: false_alarms(
        rate, shape, repeats=repeats, agree=agree, runs=max(1, draws // 10)
    )
