"""Coverage and certainty of pairwise rankings.

The rule, with 5 tests an issue, 4 players that all met on all tests, a quarter of ties, and issues
that favour a player by chance: the interval of a player's expected win rate holds the truth in at
least 90 % from 20 issues on, at least 85 % at 10, and at most 99.5 %. Among equal players at most
5 % of rankings tell any two apart; where one beats every other in 80 % of games, 20 issues tell it
apart in at least 90 %.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from evalhub.statistics.ranking.pairwise_ranking import Game, Ranked, rankings
from tests.bench.validity import Check, one_in

TESTS = 5
TIES = 0.25
RESAMPLES = 200
PART = 50
"""One in so many draws is made: a ranking takes long."""

UNEQUAL = (0.9, 0.3, -0.3, -0.9)


def checks() -> Iterator[Check]:
    for issues, least in ((10, 0.85), (20, 0.90)):
        for spread in (0.0, 0.5):
            name = f"pairwise interval: {issues} issues, spread {spread}"
            yield Check(name, least, 0.995, one_in(PART, partial(coverage, issues, spread)))
    yield Check("pairwise: equal players told apart", 0, 0.05, one_in(PART, told_apart))
    yield Check("pairwise: a clear winner told apart", 0.9, 1, one_in(PART, winner_first))


def coverage(issues: int, spread: float, draws: int) -> float:
    rng = np.random.default_rng(round(10 * (issues + spread)))
    truth = expected(UNEQUAL, spread)
    covered = []
    for ranked in drawn(UNEQUAL, issues, spread, draws, rng):
        for one in ranked.standings:
            value = truth[int(one.player)]  # type: ignore[call-overload]
            covered.append(one.interval is not None and _holds(one.interval, value))
    return float(np.mean(covered))


def _holds(interval: tuple[float, float], value: float) -> bool:
    return interval[0] <= value <= interval[1]


def told_apart(draws: int) -> float:
    rng = np.random.default_rng(7)
    rows = drawn((0.0,) * 4, 20, 0.5, draws, rng)
    return float(np.mean([any(duel.holm <= 0.05 for duel in one.duels) for one in rows]))


def winner_first(draws: int) -> float:
    rng = np.random.default_rng(8)
    rows = drawn((1.4, 0.0, 0.0, 0.0), 20, 0.3, draws, rng)
    return float(np.mean([one.standings[0].ranks == (1, 1) for one in rows]))


def expected(strengths: tuple[float, ...], spread: float) -> list[float]:
    """Return each player's mean share of wins, ties as half, by many draws of issues."""
    rng = np.random.default_rng(99)
    noise = rng.normal(0, spread, (20_000, len(strengths))) if spread else np.zeros((1, 4))
    found = np.array(strengths) + noise
    chances = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
    shares = (1 - TIES) * chances.mean(axis=0) + TIES / 2
    return list((shares.sum(axis=1) - 0.5) / (len(strengths) - 1))


def drawn(
    strengths: tuple[float, ...], issues: int, spread: float, draws: int, rng: np.random.Generator
) -> Iterator[Ranked]:
    for _ in range(draws):
        played = []
        for issue in range(issues):
            local = np.array(strengths) + rng.normal(0, spread, len(strengths))
            for test in range(TESTS):
                for i, j in combinations(range(len(strengths)), 2):
                    won = rng.random() < 1 / (1 + np.exp(local[j] - local[i]))
                    score = 0.5 if rng.random() < TIES else float(won)
                    played.append(Game(i, j, score, issue * TESTS + test, issue))
        (ranked,) = rankings(played, resamples=RESAMPLES)
        yield ranked
