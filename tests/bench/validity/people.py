"""Changes and rates that people's readings anchor, beside those of judges alone.

Unless said otherwise: 600 tests in 60 issues, both runs pass 80 %, 10 % of the tests truly change,
judges of sensitivity .92 and specificity .85. A kind judge has .95 and .70 on the second run.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from evalhub.statistics.changes.conclusion import Word, conclude
from evalhub.statistics.people.anchored import (
    Anchored,
    anchored_change,
    anchored_rate,
    judge_shift,
)
from evalhub.statistics.people.reading_plan import Looks, looks_of, word_of
from evalhub.statistics.people.reading_plan import Word as Look
from evalhub.statistics.people.sides import Side
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import pairs_of
from tests.bench.validity.people_worlds import (
    GOOD,
    KIND,
    KNOWS_NOTHING,
    PASSES_ALL,
    PERFECT,
    POOR,
    Judge,
    Runs,
    World,
    at_random,
    looks,
    planned,
    runs,
    sides_at,
    unpaired,
)

SLOW = 5
"""One comparison in so many draws."""

JUDGES_ALONE = "judges alone"
COVERS = (0.93, 0.999)
SAME = World()
TRICKED = World(judges=(GOOD, KIND))
TOGETHER = World(jury=3)


def changed(world: World, change: float) -> World:
    """Return a world with a change: a loss beside the 10 % that change, a gain among them."""
    return replace(world, change=change, changed=0.1 + max(0.0, -change))


Reading = Callable[[Runs, int, np.random.Generator], tuple[Side, Side]]
DESIGNS: dict[str, Reading] = {
    "pairs": at_random,
    "planned pairs": planned,
    "unpaired": unpaired,
}


class Shown(NamedTuple):
    """What was found in each draw, shape (draws,): low, high, estimate, p, half the width."""

    low: Any
    high: Any
    estimate: Any
    p: Any

    def covers(self, true: float) -> float:
        return float(((self.low <= true) & (true <= self.high)).mean())

    def sure(self, sign: int) -> float:
        return float(((self.p <= 0.05) & (sign * self.estimate > 0)).mean())

    @property
    def width(self) -> float:
        return float((self.high - self.low).mean())


def shown(found: list[Anchored]) -> Shown:
    return Shown(
        np.array([one.interval.low for one in found]),
        np.array([one.interval.high for one in found]),
        np.array([one.estimate for one in found]),
        np.array([one.p or 0.0 for one in found]),
    )


def blind_to_judges(sides: tuple[Side, Side]) -> tuple[Side, Side]:
    """Return the same readings beside judges who say nothing: people alone."""
    first, second = (one._replace(judged=np.ones(len(one.tests))) for one in sides)
    return first, second


@cache
def changes(world: World, design: str, read: int, alone: bool, draws: int) -> Shown:
    """Return anchored changes, or people's alone."""
    rng = np.random.default_rng([read, len(design), world.issues, world.jury])
    found = []
    for _ in range(draws):
        sides = DESIGNS[design](runs(world, rng), read, rng)
        one = anchored_change(*(blind_to_judges(sides) if alone else sides))
        assert one is not None
        found.append(one)
    return shown(found)


class Judged(NamedTuple):
    """How often judges alone say better and worse, and how often their interval covers."""

    better: float
    worse: float
    covers: float


@cache
def judged(world: World, draws: int) -> Judged:
    rng = np.random.default_rng([world.issues, world.jury])
    better = worse = covers = 0
    for _ in range(draws):
        found = runs(world, rng)
        change = (found.judged[1] - found.judged[0]).astype(np.int64)
        told = conclude(pairs_of(change, found.issues))
        assert told.interval is not None
        better += told.word == Word.BETTER
        worse += told.word == Word.WORSE
        covers += told.interval.low <= world.change <= told.interval.high
    return Judged(better / draws, worse / draws, covers / draws)


def better(world: World, design: str, read: int, draws: int) -> float:
    return changes(world, design, read, False, draws).sure(1)


def worse(world: World, design: str, read: int, draws: int) -> float:
    return changes(world, design, read, False, draws).sure(-1)


def coverage(world: World, design: str, read: int, draws: int) -> float:
    return changes(world, design, read, False, draws).covers(world.change)


def wider(world: World, design: str, read: int, draws: int) -> float:
    """Return how much wider than people's alone, read at random, the anchored interval is."""
    anchored = changes(world, design, read, False, draws).width
    return anchored / changes(world, "pairs", read, True, draws).width - 1


def rate_coverage(world: World, design: str, read: int, draws: int) -> float:
    rng = np.random.default_rng([read, len(design), world.issues, round(1000 * world.rate)])
    covers = 0
    for _ in range(draws):
        found = anchored_rate(DESIGNS[design](runs(world, rng), read, rng)[0])
        assert found is not None
        covers += found.interval.low <= world.rate <= found.interval.high
    return covers / draws


def judged_rate_coverage(world: World, draws: int) -> float:
    """The former rule: the share of answers that judges pass, with its interval."""
    rng = np.random.default_rng(1)
    covers = 0
    for _ in range(draws):
        found = runs(world, rng).judged[1]
        reach = 1.96 * (found.mean() * (1 - found.mean()) / len(found)) ** 0.5
        covers += abs(found.mean() - world.rate) <= reach
    return covers / draws


def judged_differently(world: World, read: int, draws: int) -> float:
    rng = np.random.default_rng(read)
    told = 0
    for _ in range(draws):
        shift = judge_shift(*at_random(runs(world, rng), read, rng))
        assert shift is not None
        told += shift.is_sure
    return told / draws


@cache
def words(world: World, plan: Looks, draws: int) -> tuple[float, float]:
    """Return how often a plan's looks decide for better, and for worse."""
    rng = np.random.default_rng([world.jury, round(100 * world.change) + 50])
    found = [0, 0]
    for _ in range(draws):
        both = runs(world, rng)
        for read in looks(both, plan.pairs, rng):
            change = anchored_change(*sides_at(both, read), level=plan.level)
            assert change is not None
            word = word_of(change)
            if word != Look.UNDECIDED:
                found[word == Look.WORSE] += 1
                break
    return found[0] / draws, found[1] / draws


def wrong(world: World, plan: Looks, draws: int) -> float:
    said_better, said_worse = words(world, plan, draws)
    if not world.change:
        return said_better + said_worse
    return said_worse if world.change > 0 else said_better


COVERED: dict[str, tuple[World, str, int]] = {
    "kind judge, 150 pairs": (TRICKED, "pairs", 150),
    "kind judge, 150 planned pairs": (TRICKED, "planned pairs", 150),
    "kind judge, 150 unpaired": (TRICKED, "unpaired", 150),
    "kind judge, 5 points lost, 50 pairs": (changed(TRICKED, -0.05), "pairs", 50),
    "10 issues, 25 pairs": (replace(SAME, issues=10, tests=200), "pairs", 25),
    "10 issues, 10 points won, 50 pairs": (
        replace(SAME, issues=10, tests=200, change=0.1, changed=0.2),
        *("pairs", 50),
    ),
    "poor judge, rate 0.5, 100 planned pairs": (
        World(judges=(POOR, POOR), rate=0.5),
        *("planned pairs", 100),
    ),
    "judge passes all, rate 0.95, 50 pairs": (
        World(judges=(PASSES_ALL, PASSES_ALL), rate=0.95, changed=0.05),
        *("pairs", 50),
    ),
    "perfect judge, 150 pairs": (World(judges=(PERFECT, PERFECT)), "pairs", 150),
    "three judges that err together, 125 planned pairs": (TOGETHER, "planned pairs", 125),
}


def checks() -> Iterator[Check]:
    yield from _changes()
    yield from _rates()
    yield from _plans()


def _changes() -> Iterator[Check]:
    slow = partial(one_in, SLOW)
    name = "people: nothing changed, kind judge: better by"
    alone = slow(lambda draws: judged(TRICKED, draws).better)
    yield Check(f"{name} judges alone", 0.0, 0.05, alone, JUDGES_ALONE)
    for design in DESIGNS:
        measure = slow(partial(better, TRICKED, design, 150))
        yield Check(f"{name} 150 {design}", 0.0, 0.05, measure)
    lost = changed(TRICKED, -0.05)
    for design, least in zip(DESIGNS, (0.36, 0.42, 0.19), strict=True):
        found = slow(partial(worse, lost, design, 150))
        name = f"people: 5 points lost, kind judge: worse by 150 {design}"
        yield Check(name, least, 1.0, found)
    name = "people: 5 points lost, kind judge: worse by judges alone"
    yield Check(name, 0.36, 1.0, slow(lambda draws: judged(lost, draws).worse), JUDGES_ALONE)
    for what, (world, design, read) in COVERED.items():
        found = slow(partial(coverage, world, design, read))
        yield Check(f"people: change covered, {what}", *COVERS, found)
    alone = slow(lambda draws: judged(TRICKED, draws).covers)
    yield Check("people: change covered, kind judge, judges alone", *COVERS, alone, JUDGES_ALONE)
    blind = World(judges=(KNOWS_NOTHING, KNOWS_NOTHING))
    for read in (50, 150):
        found = slow(partial(wider, blind, "pairs", read))
        yield Check(
            f"people: {read} pairs, judge that knows nothing: wider than people alone",
            *(-1.0, 0.02),
            found,
        )
    for read, world in ((25, SAME), (150, SAME), (150, World(judges=(POOR, POOR)))):
        found = slow(partial(judged_differently, world, read))
        kind = "poor" if world.judges[0] == POOR else "good"
        yield Check(f"people: {kind} judge is called kinder, {read} pairs", 0.0, 0.065, found)
    for read, power in ((50, 0.28), (150, 0.59), (400, 0.86)):
        found = slow(partial(judged_differently, TRICKED, read))
        name = f"people: kind judge is called kinder, {read} pairs"
        yield Check(name, power - 0.08, power + 0.08, found)


def _rates() -> Iterator[Check]:
    for (issues, rate, read), design in product(
        ((10, 0.8, 25), (60, 0.5, 50), (60, 0.8, 100), (60, 0.95, 50), (60, 0.98, 50)),
        ("pairs", "planned pairs"),
    ):
        world = World(issues=issues, tests=10 * issues, rate=rate, changed=min(0.1, 1 - rate))
        found = one_in(SLOW, partial(rate_coverage, world, design, read))
        what = "at random" if design == "pairs" else "as planned"
        name = f"people: rate {rate} covered, {issues} issues, {read} read {what}"
        yield Check(name, 0.9, 1.0, found)
    alone = one_in(SLOW, partial(judged_rate_coverage, TRICKED))
    yield Check("people: rate covered, kind judge, judges alone", 0.9, 1.0, alone, JUDGES_ALONE)


def _plans() -> Iterator[Check]:
    one, three = "one judge of .92/.85", "three that err together"
    judges = Judge(0.92, 0.85)
    for name, world in ((one, World(judges=(judges, judges))), (three, TOGETHER)):
        found = one_in(SLOW, partial(wider, world, "planned pairs", 150))
        yield Check(
            f"people: 150 planned pairs, {name}: wider than people at random", -1.0, -0.12, found
        )
    plan, each = looks_of(125), Looks(looks_of(125).pairs, 0.05)
    tricked = replace(TOGETHER, judges=(GOOD, KIND))
    for name, world in (
        ("nothing changed", TOGETHER),
        ("nothing changed, kind judges", tricked),
        ("5 points lost, kind judges", changed(tricked, -0.05)),
        ("nothing changed, 20 issues", replace(TOGETHER, issues=20)),
    ):
        found = one_in(2 * SLOW, partial(wrong, world, plan))
        yield Check(f"people: wrong over five looks, {name}", 0.0, 0.05, found)
    alone = one_in(SLOW, lambda draws: judged(tricked, draws).better)
    name = "people: wrong by judges alone, nothing changed, kind judges"
    yield Check(name, 0.0, 0.05, alone, JUDGES_ALONE)
    found = one_in(2 * SLOW, partial(wrong, TOGETHER, each))
    yield Check("people: wrong over five looks, each at 5%", 0.0, 0.05, found, "each look at 5%")
    for change, least in ((0.08, 0.89), (-0.05, 0.28), (-0.1, 0.82)):
        name = f"people: five looks decide, {100 * change:+.0f} points"
        found = one_in(2 * SLOW, partial(right, changed(TOGETHER, change), plan))
        yield Check(name, least, 1.0, found)


def right(world: World, plan: Looks, draws: int) -> float:
    return words(world, plan, draws)[world.change < 0]
