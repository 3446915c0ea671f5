"""How often a change is concluded where there is none, and where there is one.

The model: 200 tests in issues of equal sizes, or of sizes as 1, 1/2, 1/3 and so on. A share of the
tests changes, and changes of one issue are correlated: each test takes the change of its issue with
the root of the correlation as chance, else its own.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.conclusion import Conclusion, Outcome, Pair, Word, conclude
from evalhub.statistics.changes.net_change import net_change
from tests.bench.validity import Check, one_in

TESTS = 200
SLOW = 25
"""One comparison in so many draws."""

JURY = 3
Ints = NDArray[np.int64]


def issues_of(g: int, *, equal: bool, tests: int = TESTS) -> Ints:
    """Return the issue of each test, shape (tests,)."""
    if equal:
        return np.arange(tests) * g // tests
    shares = np.cumsum(1 / np.arange(1, g + 1))
    return np.searchsorted(shares / shares[-1], (np.arange(tests) + 0.5) / tests)


def drawn_changes(
    issues: Ints, changed: float, correlation: float, loss: float, rng: np.random.Generator
) -> Ints:
    """Return changes of -1, 0 and 1 with a mean of -loss, shape (n,)."""
    chances = [(changed + loss) / 2, 1 - changed, (changed - loss) / 2]
    own, shared = (rng.choice([-1, 0, 1], p=chances, size=len(issues)) for _ in range(2))
    copies = rng.random(len(issues)) < correlation**0.5
    return np.where(copies, shared[issues], own)


def found_changes(
    g: int, equal: bool, changed: float, correlation: float, loss: float, draws: int
) -> Iterator[tuple[Any, float]]:
    """Yield what each draw measures, with the true change."""
    issues = issues_of(g, equal=equal)
    rng = np.random.default_rng(round(1e3 * (g + changed + 7 * correlation + 3 * loss) + equal))
    for _ in range(draws):
        changes = drawn_changes(issues, changed, correlation, loss, rng)
        yield net_change(changes.tolist(), issues.tolist()), -loss


def false_changes(g: int, equal: bool, changed: float, correlation: float, draws: int) -> float:
    found = found_changes(g, equal, changed, correlation, 0.0, draws)
    return float(np.mean([one.is_sure for one, _ in found]))


def coverage(g: int, equal: bool, correlation: float, loss: float, draws: int) -> float:
    found = found_changes(g, equal, 0.2, correlation, loss, draws)
    return float(np.mean([one.interval.low <= true <= one.interval.high for one, true in found]))


Side = Callable[[Ints, np.random.Generator], list[Outcome]]


def jury_side(share: float, *, silent_on_failed: float = 0.0, gone: bool = False) -> Side:
    """Return the outcomes of answers under three judges and a majority.

    Args:
        share: Of each answer's judgments, missing at random.
        silent_on_failed: Chance that a judge which would fail an answer gives no judgment.
        gone: One of the judges gave none at all.
    """

    def side(passed: Ints, rng: np.random.Generator) -> list[Outcome]:
        verdicts = np.repeat(passed[:, np.newaxis], JURY, axis=1)
        missing = rng.random(verdicts.shape) < share
        missing |= (verdicts == 0) & (rng.random(verdicts.shape) < silent_on_failed)
        missing[:, 0] |= gone
        return [_majority(row, lost) for row, lost in zip(verdicts, missing, strict=True)]

    return side


def _majority(verdicts: Ints, missing: NDArray[np.bool_]) -> Outcome:
    given = verdicts[~missing]
    if not len(given):
        return Outcome(None)
    share = float(given.mean() > 0.5)
    low, high = (float(np.where(missing, worst, verdicts).mean() > 0.5) for worst in (0, 1))
    return Outcome(share, min(low, share), max(high, share))


def errors_on_failed(chance: float) -> Side:
    """Return outcomes of which some that would fail are errors."""

    def side(passed: Ints, rng: np.random.Generator) -> list[Outcome]:
        lost = (passed == 0) & (rng.random(len(passed)) < chance)
        return [
            Outcome(None) if gone else Outcome.whole(float(one))
            for one, gone in zip(passed, lost, strict=True)
        ]

    return side


def conclusions(g: int, loss: float, new_side: Side, draws: int) -> Iterator[Conclusion]:
    """Yield what is concluded of runs at a pass rate of 70 % in which 10 % of the tests change."""
    issues = issues_of(g, equal=True)
    rng = np.random.default_rng(g + round(100 * loss))
    whole = jury_side(0.0)
    for _ in range(draws):
        old = (rng.random(TESTS) < 0.7).astype(np.int64)
        changed = 0.1
        lost = (old == 1) & (rng.random(TESTS) < (changed + loss) / 2 / 0.7)
        won = (old == 0) & (rng.random(TESTS) < (changed - loss) / 2 / 0.3)
        new = np.where(lost, 0, np.where(won, 1, old))
        sides = zip(issues.tolist(), whole(old, rng), new_side(new, rng), strict=True)
        yield conclude(Pair(*one) for one in sides)


def share_of(words: frozenset[Word], g: int, loss: float, side: Side, draws: int) -> float:
    return float(np.mean([one.word in words for one in conclusions(g, loss, side, draws)]))


def passing_gate(g: int, loss: float, side: Side, draws: int) -> float:
    """Return the share of comparisons with which a gate on the conclusion exits with 0."""
    found = conclusions(g, loss, side, draws)
    return float(np.mean([not (c.word.is_loss or c.may_hide_loss or c.would_say) for c in found]))


LOSSES = frozenset({Word.WORSE, Word.MIXED})
BETTER = frozenset({Word.BETTER})
MISSING = {
    "nothing missing": jury_side(0.0),
    "1 % of judgments missing": jury_side(0.01),
    "5 % of judgments missing": jury_side(0.05),
    "one of three judges gone": jury_side(0.0, gone=True),
    "a judge silent on what it would fail": jury_side(0.0, silent_on_failed=0.6),
    "half of the failing answers errors": errors_on_failed(0.5),
}


def checks() -> Iterator[Check]:
    for g, correlation in product((5, 6, 10, 20, 60), (0.0, 0.05, 0.2, 0.5)):
        for equal in (True, False):
            sizes = "equal" if equal else "unequal"
            yield Check(
                f"change, none: {g} {sizes} issues, correlation {correlation}",
                *(0.0, 0.065),
                one_in(SLOW, partial(false_changes, g, equal, 0.1, correlation)),
            )
    for g, correlation, loss in product((5, 10, 20), (0.0, 0.2, 0.5), (0.0, 0.1)):
        yield Check(
            f"change interval: {g} issues, correlation {correlation}, loss {loss}",
            *(0.9, 1.0),
            one_in(SLOW, partial(coverage, g, True, correlation, loss)),
        )
    for g, (name, side) in product((1, 3, 20), MISSING.items()):
        yield Check(
            f"better without a change: {g} issues, {name}",
            *(0.0, 0.03),
            one_in(SLOW, partial(share_of, BETTER, g, 0.0, side)),
        )
        yield Check(
            f"worse without a change: {g} issues, {name}",
            *(0.0, 0.05),
            one_in(SLOW, partial(share_of, LOSSES, g, 0.0, side)),
        )
    for name, side in MISSING.items():
        yield Check(
            f"gate passes a loss of 8 points: {name}",
            *(0.0, 0.25),
            one_in(SLOW, partial(passing_gate, 20, 0.08, side)),
        )
