"""Leaderboards of equal models whose tests fail together within issues, of which there are few.

From 5 shared issues on signs of whole issues are flipped, too, and then at most 6.5 % of boards may
tell any two equal models apart. Below, signs of tests are: no rule that tells models of few issues
apart can bound what chance does there. The page warns that tests of one issue may fail together,
and the figure here is how often it has to.
"""

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from tests.bench.validity import Check, one_in
from tests.bench.validity.leaderboard import Shape, board_of
from tests.bench.validity.leaderboard_uneven import World, board

ANY = (0.0, 0.065)
CAVEAT = "caveat shown"
WORLDS = tuple(
    World(models, suites, (tests, tests), issues, correlation=0.3)
    for models, suites, tests, issues in (
        (2, 1, 20, 6),
        (2, 1, 40, 12),
        (2, 1, 20, 3),
        (3, 2, 20, 2),
        (5, 2, 20, 5),
        (10, 2, 20, 8),
        (20, 4, 20, 5),
    )
)
TIED = Shape(3, 4, 20, 20)


@cache
def told_apart(world: World, draws: int) -> tuple[float, float]:
    """Return the shares of boards that tell any two apart by issues, and by tests."""
    rng = np.random.default_rng(3)
    told = [0, 0]
    for _ in range(draws):
        apart = [pair for pair in board(world, rng).pairs if (pair.holm or 0) <= 0.05]
        for place, by_issue in enumerate((True, False)):
            told[place] += any(pair.accounts_for_issues == by_issue for pair in apart)
    return told[0] / draws, told[1] / draws


def by_issues(world: World, draws: int) -> float:
    return told_apart(world, draws)[0]


def by_tests(world: World, draws: int) -> float:
    return told_apart(world, draws)[1]


def false_leaders(shape: Shape, draws: int) -> float:
    """Return the share of boards that call one of two equally good models first of three."""
    rng = np.random.default_rng(2)
    rates = np.array([0.8, 0.8, 0.3])[:, None, None]
    found = (
        board_of(rng.random((shape.models, shape.suites, shape.tests)) < rates, shape).leader
        for _ in range(draws)
    )
    return sum(leader is not None for leader in found) / draws


def checks() -> Iterator[Check]:
    for world in WORLDS:
        name = f"leaderboard, correlated: {world}: boards that tell any apart by"
        slow = max(8, 4 * world.models)
        yield Check(f"{name} issues", *ANY, one_in(slow, partial(by_issues, world)))
        yield Check(f"{name} tests", 0, 1, one_in(slow, partial(by_tests, world)), CAVEAT)
    name = f"leaderboard: {TIED}, two equally good: one called first"
    yield Check(name, *ANY, one_in(25, partial(false_leaders, TIED)))
