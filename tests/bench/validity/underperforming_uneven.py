"""Runs of uneven tests and issues: the share in which an issue is named that is like the others.

From "The unit of evidence": tests are permuted between the issues of a run, Holm over issues, and
at most 5 % of runs without an underperforming issue name one. The tests here are drawn alike for
all issues, and everything else is uneven: tests are easy or hard, issues have one test or many,
and repeats are missing at random. With an issue that fails planted, none of the others may be
named in more than 5 % of runs, and it itself is found.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from reports.underperforming.rule import Counted, issue_comparisons
from tests.bench.validity import Check

ANY = (0.0, 0.05)
SIZES = {
    "1 to 30 tests": lambda rng: rng.integers(1, 31, size=15),
    "one of 60 tests, others of 3": lambda rng: np.array([60, *[3] * 12]),
    "2 tests": lambda rng: np.full(25, 2),
    "one test, two of 20": lambda rng: np.array([20, 20, *[1] * 20]),
}
"""Tests of each issue."""

RATES = (0.05, 0.3, 0.7, 0.95)


class World(NamedTuple):
    """A random run.

    Attributes:
        sizes: Key of `SIZES`.
        rate: Mean pass rate of the tests.
        spread: Sum of the parameters of the Beta distribution of tests' rates: small ones make
            tests easy or hard.
        repeats: Answers to each test, of which some are not scored.
        planted: Pass rate of the first issue; None: as the others.
    """

    sizes: str
    rate: float
    spread: float
    repeats: int
    planted: float | None = None

    def __str__(self) -> str:
        tests = "easy or hard" if self.spread < 2 else "alike"
        return f"issues of {self.sizes}, pass rate {self.rate:.0%}, tests {tests}, " + (
            "single answers" if self.repeats == 1 else f"1 to {self.repeats} repeats"
        )


def named_issues(world: World, rng: np.random.Generator) -> set[int]:
    """Return the issues named in a random run."""
    issues: dict[int, list[Counted]] = {}
    for issue, size in enumerate(SIZES[world.sizes](rng)):
        rates = rng.beta(world.rate * world.spread, (1 - world.rate) * world.spread, size=size)
        if issue == 0 and world.planted is not None:
            rates = np.full(size, world.planted)
        scored = rng.integers(1, world.repeats + 1, size=size)
        passed = rng.binomial(scored, rates)
        issues[issue] = [Counted(int(one), int(n)) for one, n in zip(passed, scored, strict=True)]
    found = issue_comparisons(issues, {}, single=world.repeats == 1)
    return {one.issue for one in found.issues if one.is_below}


def share(world: World, draws: int, *, of: str = "any", seed: int = 5) -> float:
    """Return the share of runs that name any issue, the planted one, or another one."""
    rng = np.random.default_rng(seed)
    runs = max(1, draws // 25)
    named = (named_issues(world, rng) for _ in range(runs))
    hits = {
        "any": lambda found: bool(found),
        "planted": lambda found: 0 in found,
        "others": lambda found: bool(found - {0}),
    }[of]
    return sum(map(hits, named)) / runs


def checks() -> Iterator[Check]:
    for sizes in SIZES:
        for rate in RATES:
            for spread, repeats in ((0.8, 1), (0.8, 3), (40.0, 3)):
                world = World(sizes, rate, spread, repeats)
                name = f"underperforming, uneven, none planted: {world}: runs that name any"
                yield Check(name, *ANY, partial(share, world))
    for repeats in (1, 3):
        world = World("1 to 30 tests", 0.8, 0.8, repeats, planted=0.05)
        name = f"underperforming, uneven, first issue at 5 %: {world}: runs that name another"
        yield Check(name, *ANY, partial(share, world, of="others"))
        world = World("one of 60 tests, others of 3", 0.8, 0.8, repeats, planted=0.2)
        name = f"underperforming, uneven, first issue at 20 %: {world}: runs that name it"
        yield Check(name, 0.8, 1, partial(share, world, of="planted"))
