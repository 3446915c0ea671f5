"""Leaderboards of models that are nested, and of models that are equal.

From "The unit of evidence". Nested: each model fails all that the one above fails, and some tests
more. Equal: each model passes each test with the test's own rate, on its own; or passes and fails
whole issues, enough of them to be permuted. (With few of them the rule permutes tests: see
`leaderboard_correlated`.)

A test counts once, whatever number of suites holds it. The rule before counted it in each suite:
equal models whose tests three suites list were then told apart on a quarter of the boards.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reports.leaderboard.certainty_rule import BoardCertainty, certainty
from reports.leaderboard.pairing_rule import ScoredTest
from reports.leaderboard.rule import RankedModel, SuiteScore
from tests.bench.validity import Check

ALL = (1.0, 1.0)
FEW = (0.0, 0.05)


class Shape(NamedTuple):
    """Models, suites, tests of each suite, and issues of each suite."""

    models: int
    suites: int
    tests: int
    issues: int

    def __str__(self) -> str:
        return (
            f"{self.suites} suites × {self.tests} tests in {self.issues} issues "
            f"× {self.models} models"
        )


SMALL = [Shape(3, 2, 20, issues) for issues in (1, 10, 20)]
FIVE = Shape(3, 5, 20, 4)
LARGE = [Shape(40, 10, 50, issues) for issues in (4, 10)]
COPIED = Shape(2, 1, 40, 4)
EQUAL = [Shape(3, 2, 20, 20), Shape(5, 5, 20, 8), Shape(10, 10, 50, 10)]
STEP = 10
"""Tests that each of the 40 nested models fails more; three models lower, that is 30."""


def board_of(passed: NDArray[np.bool_], shape: Shape, *, copies: int = 1) -> BoardCertainty:
    """Return what a board says of these answers, shape (models, suites, tests).

    Args:
        copies: Suites that list each of these tests.
    """
    ranked, results = [], {}
    for model, suites in enumerate(passed):
        scores = []
        for place in range(len(suites) * copies):
            suite = place % len(suites)
            tests = suites[suite]
            run = model * shape.suites * copies + place
            results[run] = [
                ScoredTest(
                    revision=suite * shape.tests + test,
                    issue=suite * shape.issues + test % shape.issues,
                    weight=1.0,
                    score=float(is_passed),
                )
                for test, is_passed in enumerate(tests)
            ]
            scores.append(SuiteScore(place, "1", float(tests.mean()), (run,)))
        mean = float(np.mean([one.score for one in scores]))
        ranked.append(RankedModel(f"m{model:02}", mean, tuple(scores)))
    return certainty(ranked, results)


def nested(shape: Shape, step: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return answers of models of which each fails `step` tests more than the one before."""
    order = rng.permutation(shape.suites * shape.tests)
    passed = np.ones((shape.models, len(order)), dtype=bool)
    for model, line in enumerate(passed):
        line[order[: model * step]] = False
    return passed.reshape(shape.models, shape.suites, shape.tests)


def told_apart(shape: Shape, *, step: int, least: int, boards: int, seed: int = 1) -> float:
    """Return the share of nested pairs, at least so many tests apart, told apart."""
    rng = np.random.default_rng(seed)
    apart = pairs = 0
    for _ in range(boards):
        found = board_of(nested(shape, step, rng), shape)
        for pair in found.pairs:
            if (int(pair.second[1:]) - int(pair.first[1:])) * step >= least:
                pairs += 1
                apart += pair.holm is not None and pair.holm <= 0.05 and (pair.difference or 0) > 0
    return apart / pairs


def false_alarms(
    shape: Shape,
    *,
    rate: float,
    boards: int,
    whole_issues: bool = False,
    copies: int = 1,
    seed: int = 1,
) -> float:
    """Return the share of boards of equal models that tell any two apart."""
    rng = np.random.default_rng(seed)
    alarms = 0
    for _ in range(boards):
        rates = rng.beta(4 * rate, 4 * (1 - rate), (shape.suites, shape.tests))
        if whole_issues:
            drawn = rng.random((shape.models, shape.suites, shape.issues)) < rate
            passed = drawn[:, :, np.arange(shape.tests) % shape.issues]
        else:
            passed = rng.random((shape.models, shape.suites, shape.tests)) < rates
        alarms += board_of(passed, shape, copies=copies).told_apart > 0
    return alarms / boards


def checks() -> Iterator[Check]:
    for shape in (*SMALL, FIVE):
        quarter = shape.suites * shape.tests // 4
        yield Check(
            f"leaderboard: {shape}, nested by {quarter} tests: pairs told apart",
            *ALL,
            _boards(told_apart, shape, step=quarter, least=quarter),
        )
    for shape in LARGE:
        yield Check(
            f"leaderboard: {shape}, nested: pairs 30 tests apart told apart",
            *ALL,
            _boards(told_apart, shape, portion=5000, step=STEP, least=30),
        )
    for shape, rate in product(EQUAL, (0.5, 0.9)):
        yield Check(
            f"leaderboard: {shape}, equal, pass rate {rate:.0%}: boards that tell any apart",
            *FEW,
            _boards(false_alarms, shape, rate=rate),
        )
    for rate in (0.5, 0.9):
        yield Check(
            f"leaderboard: {COPIED}, in three suites, equal, pass rate {rate:.0%}: told apart",
            *FEW,
            _boards(false_alarms, COPIED, rate=rate, copies=3),
        )
    for shape, rate in product(EQUAL[1:], (0.5, 0.9)):
        yield Check(
            f"leaderboard: {shape}, equal, pass rate {rate:.0%}, whole issues fail: "
            "boards that tell any apart",
            *FEW,
            _boards(false_alarms, shape, rate=rate, whole_issues=True),
        )


def _boards(
    measure: Callable[..., float], shape: Shape, *, portion: int = 0, **model: Any
) -> Callable[[int], float]:
    """Return the measure on one board for so many draws; of many models it is slow."""
    portion = portion or (25 if shape.models < 10 else 80)
    return lambda draws: measure(shape, boards=max(1, draws // portion), **model)
