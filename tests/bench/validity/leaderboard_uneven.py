"""Leaderboards of uneven data: boards of equal models that tell any two of them apart.

From "The unit of evidence": among equal models at most 5 % of boards tell any two apart. The models
here are equal, and everything else is uneven: tests are easy or hard for all models alike, suites
and issues differ in size, models ran different suites, answers were repeated, and models pass or
fail issues rather than tests, to a degree (the correlation within issues).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from reports.leaderboard.certainty_rule import BoardCertainty, certainty
from reports.leaderboard.pairing_rule import ScoredTest
from reports.leaderboard.rule import RankedModel, SuiteScore
from tests.bench.validity import Check

ANY = (0.0, 0.05)
DIFFICULTIES = {"alike": (20.0, 20.0), "easy or hard": (0.4, 0.3)}
"""Beta distributions of the tests' pass rates."""


class World(NamedTuple):
    """A random board.

    Attributes:
        models, suites: How many.
        sizes: Tests of a suite, from and to.
        issues: Issues of a suite; tests are drawn into them with unequal shares.
        correlation: Of a model's results within an issue, in [0, 1).
        ran: Share of the suites that a model ran.
        repeats: Answers to each test.
    """

    models: int
    suites: int
    sizes: tuple[int, int]
    issues: int
    correlation: float = 0.0
    difficulty: str = "alike"
    ran: float = 1.0
    repeats: int = 1

    def __str__(self) -> str:
        return (
            f"{self.models} models, {self.suites} suites × {self.sizes[0]}-{self.sizes[1]} tests "
            f"in {self.issues} issues, tests {self.difficulty}, correlated {self.correlation:g}, "
            f"{self.ran:.0%} ran, {self.repeats} repeats"
        )


def board(world: World, rng: np.random.Generator) -> BoardCertainty:
    """Return what is said of a random board of equal models."""
    results: dict[int, list[ScoredTest]] = {}
    scores: list[list[SuiteScore]] = [[] for _ in range(world.models)]
    for suite in range(world.suites):
        n = int(rng.integers(world.sizes[0], world.sizes[1] + 1))
        shares = rng.dirichlet(np.full(world.issues, 1.0))
        issue_of = rng.choice(world.issues, size=n, p=shares)
        rates = rng.beta(*DIFFICULTIES[world.difficulty], size=n)
        weights = rng.choice([1.0, 2.0, 3.0], size=n)
        for model in range(world.models):
            if rng.random() >= world.ran:
                continue
            run = suite * world.models + model
            passed = answers(rates, issue_of, world, rng)
            results[run] = [
                ScoredTest(suite * 1000 + test, suite * 100 + int(issue_of[test]), weight, one)
                for test, weight in enumerate(weights.tolist())
                for one in passed[test].tolist()
            ]
            mean = float((weights * passed.mean(axis=1)).sum() / weights.sum())
            scores[model].append(SuiteScore(suite, "1", mean, (run,)))
    ranked = [
        RankedModel(f"m{model:02}", float(np.mean([one.score for one in some])), tuple(some))
        for model, some in enumerate(scores)
        if some
    ]
    return certainty(ranked, results)


def answers(
    rates: np.ndarray, issue_of: np.ndarray, world: World, rng: np.random.Generator
) -> np.ndarray:
    """Return a model's passes, shape (tests, repeats).

    With the probability of the correlation's root a test goes as its issue goes for this model, so
    that two tests of an issue are correlated as stated, whatever their own rates.
    """
    own = rng.random((len(rates), world.repeats))
    of_issue = rng.random(world.issues)[issue_of][:, None]
    follows = rng.random((len(rates), 1)) < np.sqrt(world.correlation)
    return (np.where(follows, of_issue, own) < rates[:, None]).astype(float)


def false_alarms(world: World, draws: int, *, seed: int = 3) -> float:
    """Return the share of boards that tell any two of the models apart."""
    rng = np.random.default_rng(seed)
    boards = max(1, draws // 40)
    return sum(board(world, rng).told_apart > 0 for _ in range(boards)) / boards


WORLDS = (
    World(3, 2, (10, 40), 10, difficulty="easy or hard"),
    World(6, 8, (5, 60), 4, difficulty="easy or hard", ran=0.6),
    World(6, 8, (5, 60), 4, difficulty="easy or hard", ran=0.6, repeats=3),
    World(10, 10, (10, 50), 8, correlation=0.3),
)
"""Without correlation, or with plenty of issues; see `leaderboard_correlated` for few of them."""


def checks() -> Iterator[Check]:
    for world in WORLDS:
        name = f"leaderboard, uneven: {world}: boards that tell any apart"
        measure: Callable[[int], float] = partial(false_alarms, world)
        yield Check(name, *ANY, measure)
