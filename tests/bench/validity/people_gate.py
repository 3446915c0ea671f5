"""Gates on a loss that is allowed, and on releases in a row.

The model: tests in issues of 10; 10 % of the tests change either way, whatever the loss. What a
gate reads are the judges' outcomes, or people's of all answers.
"""

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from evalhub.statistics.changes.conclusion import conclude
from evalhub.statistics.changes.net_change import net_change
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import FORMER, Ints, issues_of, pairs_of

SLOW, SLOW_HISTORIES = 10, 40
RELEASES = 20
RATE = 0.8
LEVEL = 0.01
"""The level that a suite may set for releases in a row."""


def released(
    baseline: Ints, places: Ints, change: float, changed: float, rng: np.random.Generator
) -> Ints:
    """Return the outcomes of a release: so many of the baseline's tests change."""
    lost, won = (changed - change) / 2, (changed + change) / 2
    flips = np.where(baseline == 1, lost / RATE, won / (1 - RATE))
    return np.where(rng.random(len(places)) < flips, 1 - baseline, baseline)


def drawn(tests: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the outcomes of a baseline, and the issue of each test."""
    return (rng.random(tests) < RATE).astype(np.int64), issues_of(
        tests // 10, equal=True, tests=tests
    )


def lower_end(changes: Ints, issues: Ints) -> float:
    found = net_change(changes.tolist(), issues.tolist())
    assert found is not None
    return found.interval.low


def passes(tests: int, loss: float, margin: float, draws: int) -> float:
    """Return how often a release that loses so much is no worse than a margin, for sure."""
    rng = np.random.default_rng([tests, round(100 * loss), round(100 * margin)])
    passed = 0
    for _ in range(draws):
        baseline, issues = drawn(tests, rng)
        new = released(baseline, issues, -loss, 0.1, rng)
        passed += lower_end(new - baseline, issues) >= -margin
    return passed / draws


def passes_by_estimate(tests: int, loss: float, margin: float, draws: int) -> float:
    """The former rule: the change as counted is compared with the margin."""
    rng = np.random.default_rng(tests)
    passed = 0
    for _ in range(draws):
        baseline, issues = drawn(tests, rng)
        passed += (released(baseline, issues, -loss, 0.1, rng) - baseline).mean() >= -margin
    return passed / draws


def any_stopped(level: float, draws: int) -> float:
    """Return the share of rows of unchanged releases of which any is called worse."""
    rng = np.random.default_rng(20)
    stopped = 0
    for _ in range(draws):
        baseline, issues = drawn(600, rng)
        stopped += any(
            conclude(
                pairs_of(released(baseline, issues, 0.0, 0.1, rng) - baseline, issues),
                level=level,
            ).word.is_loss
            for _ in range(RELEASES)
        )
    return stopped / draws


@cache
def first_stopped(against_baseline: bool, draws: int) -> list[int]:
    """Return which release is the first that is not shown to be no worse, of 20 in a row.

    1,000 tests; each release loses 1 point more; 5 are allowed. 21: none is stopped.
    """
    rng = np.random.default_rng(1000)
    found = []
    for _ in range(draws):
        baseline, issues = drawn(1000, rng)
        before, stopped = baseline, RELEASES + 1
        for release in range(1, RELEASES + 1):
            new = released(before, issues, -0.01, 0.02, rng)
            reference = baseline if against_baseline else before
            if lower_end(new - reference, issues) < -0.05:
                stopped = release
                break
            before = new
        found.append(stopped)
    return found


def stopped_by(release: int, against_baseline: bool, draws: int) -> float:
    found = first_stopped(against_baseline, draws)
    return sum(one <= release for one in found) / draws


def checks() -> Iterator[Check]:
    for tests, margin in ((100, 0.05), (300, 0.05), (600, 0.03), (600, 0.05), (1000, 0.05)):
        name = f"people, gate: {tests} tests, {margin:.0%} lost and allowed, passes"
        by_interval = one_in(SLOW, partial(passes, tests, margin, margin))
        yield Check(name, 0.0, 0.04, by_interval)
    by_estimate = one_in(SLOW, partial(passes_by_estimate, 600, 0.05, 0.05))
    name = "people, gate: 600 tests, 5% lost and allowed, passes by the point estimate"
    yield Check(name, 0.0, 0.04, by_estimate, FORMER)
    for tests, margin, least in ((300, 0.05, 0.67), (600, 0.05, 0.88), (600, 0.1, 0.95)):
        name = f"people, gate: {tests} tests, nothing lost, {margin:.0%} allowed, passes"
        yield Check(name, least, 1.0, one_in(SLOW, partial(passes, tests, 0.0, margin)))
    row = f"people, gate: any of {RELEASES} unchanged releases stopped"
    histories = partial(one_in, SLOW_HISTORIES)
    yield Check(f"{row} at .01", 0.0, 0.1, histories(partial(any_stopped, LEVEL)))
    yield Check(f"{row} at .05", 0.0, 0.1, histories(partial(any_stopped, 0.05)), "at .05")
    slide = "people, gate: 1 point lost each time, 5 allowed, stopped"
    by_baseline = histories(partial(stopped_by, 5, True))
    yield Check(f"{slide} by release 5 against the baseline", 0.5, 1.0, by_baseline)
    by_previous = histories(partial(stopped_by, RELEASES, False))
    name = f"{slide} by release {RELEASES} against the one before"
    yield Check(name, 0.5, 1.0, by_previous, FORMER)
