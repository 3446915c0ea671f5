"""How often the default gate fails an unchanged run, and passes a loss where something is missing.

The worlds are those of `changes`.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from evalhub.statistics.changes.conclusion import Conclusion, Word, conclude
from reports.compare.rule import Tally
from reports.gate.change_rules import Change, change_lines
from reports.gate.exit_codes import ExitCode
from reports.gate.rule import decide
from runs.suites.gate_policy import GatePolicy
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import (
    MISSING,
    conclusions,
    drawn_changes,
    issues_of,
    pairs_of,
)

SLOW = 10
"""One comparison in so many draws."""

ISSUES, LOSS = 20, 0.08


def exit_of(found: Conclusion) -> ExitCode:
    assert found.reading is not None
    tally = Tally(0, 0, found.reading.net.tests, found.reading.net.change)
    return decide(change_lines(Change(tally, found, ("1.3", "1.4"), {}), GatePolicy())).code


def false_alarms(g: int, equal: bool, changed: float, draws: int) -> float:
    """Return the share of unchanged pairs that fail the gate; tests change independently."""
    issues = issues_of(g, equal=equal)
    rng = np.random.default_rng([g, equal, round(100 * changed)])
    drawn = (drawn_changes(issues, changed, 0.0, 0.0, rng) for _ in range(draws))
    found = Counter(exit_of(conclude(pairs_of(changes, issues))) for changes in drawn)
    return found[ExitCode.DOES_NOT_HOLD] / draws


@cache
def shown(loss: float, missing: str, draws: int) -> Counter[ExitCode | Word]:
    """Return how often the gate exits how, and what the scored tests alone would say."""
    found: Counter[ExitCode | Word] = Counter()
    for one in conclusions(ISSUES, loss, MISSING[missing], draws):
        assert one.reading is not None
        found.update([exit_of(one), one.reading.word])
    return found


def more_passed(missing: str, draws: int) -> float:
    """Return how much more often the gate passes a loss than where nothing is missing."""
    passed = [shown(LOSS, name, draws)[ExitCode.HOLDS] for name in (missing, "nothing missing")]
    return (passed[0] - passed[1]) / draws


def said_by_scored(words: tuple[Word, ...], loss: float, missing: str, draws: int) -> float:
    found = shown(loss, missing, draws)
    return sum(found[word] for word in words) / draws


def checks() -> Iterator[Check]:
    for g, (equal, changed) in product(
        (1, 2, 3, 5, 6, 10, 20, 60), ((True, 0.02), (False, 0.1), (True, 0.4))
    ):
        sizes = "equal" if equal else "unequal"
        yield Check(
            f"gate, false alarms: {g} {sizes} issues, {changed:.0%} of the tests change",
            *(0.0, 0.05),
            one_in(SLOW, partial(false_alarms, g, equal, changed)),
        )
    for name in MISSING:
        yield Check(
            f"gate passes more losses of 8 points than with nothing missing: {name}",
            *(-1.0, 0.03),
            one_in(SLOW, partial(more_passed, name)),
        )
    unsure = (Word.CANNOT_TELL, Word.SAME, Word.BETTER)
    for words, loss, name in (
        ((Word.WORSE,), 0.0, "one of three judges gone"),
        ((Word.BETTER,), 0.0, "a judge silent on what it would fail"),
        (unsure, LOSS, "half of the failing answers errors"),
    ):
        yield Check(
            f"gate by scored tests alone is wrong, loss {loss}: {name}",
            *(0.0, 0.25 if loss else 0.05),
            one_in(SLOW, partial(said_by_scored, words, loss, name)),
            caveat="the former rule",
        )
