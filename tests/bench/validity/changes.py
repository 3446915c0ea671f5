"""How often a change is concluded where there is none, and where there is one.

The model: 200 tests in issues of equal sizes, or of sizes as 1, 1/2, 1/3 and so on. A share of the
tests changes, and changes of one issue are correlated: each test takes the change of its issue with
the root of the correlation as chance, else its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
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


def found_worse(g: int, tests: int, changed: float, loss: float, lost: int, draws: int) -> float:
    """Return the share of comparisons that are called worse or mixed.

    Args:
        changed: Share of tests that change by chance, either way alike.
        loss: Share of tests that are lost besides.
        lost: Issues that lose all their tests, instead.
    """
    issues = issues_of(g, equal=True, tests=tests)
    rng = np.random.default_rng(round(1e3 * (g + changed + loss)) + lost)
    found = 0
    for _ in range(draws):
        changes = drawn_changes(issues, changed + loss, 0.0, loss, rng)
        changes[issues < lost] = -1
        found += conclude(pairs_of(changes, issues)).word in LOSSES
    return found / draws


def pairs_of(changes: Ints, issues: Ints) -> list[Pair]:
    """Return tests of which those that did not change passed on both sides."""
    return [
        Pair(int(issue), Outcome.whole(float(change <= 0)), Outcome.whole(float(change >= 0)))
        for issue, change in zip(issues, changes, strict=True)
    ]


def by_changed_issues(changes: Ints, issues: Ints) -> float:
    """Return the p of the former rule: signs of whole issues are flipped from six changed ones on.

    It stands here as what the rule of today is held against.
    """
    moved = np.unique(issues[changes != 0])
    sums = np.array([changes[issues == one].sum() for one in moved])
    units = sums if len(moved) >= 6 else changes[changes != 0]
    flips = np.random.default_rng(1).choice([-1, 1], size=(4_000, len(units)))
    return float(np.mean(abs(flips @ units) >= abs(units.sum())))


def false_by_changed_issues(g: int, correlation: float, draws: int) -> float:
    issues = issues_of(g, equal=True)
    rng = np.random.default_rng(g)
    drawn = (drawn_changes(issues, 0.1, correlation, 0.0, rng) for _ in range(draws))
    return float(np.mean([by_changed_issues(changes, issues) <= 0.05 for changes in drawn]))


REVIEWED: dict[str, Callable[[Ints, Ints], NDArray[np.bool_]]] = {
    "failed answers": lambda _, new: new == 0,
    "answers that changed": lambda old, new: old != new,
}
"""Answers of the new run that people review, and of the old run none."""


def better_by_review(which: str, draws: int, *, mixes: bool) -> float:
    """Return the share of unchanged pairs called better where people review one side.

    Judges err in 12 % of right answers and 20 % of wrong ones; people do not.

    Args:
        mixes: The former rule: a review takes the place of the judges' outcome.
    """
    rng, issues, found = np.random.default_rng(3), issues_of(20, equal=True), 0
    for _ in range(draws):
        right = rng.random(TESTS) < 0.8
        old, new = (
            np.where(right, rng.random(TESTS) < 0.88, rng.random(TESTS) < 0.2).astype(np.int64)
            for _ in range(2)
        )
        shown = np.where(REVIEWED[which](old, new), right, new) if mixes else new
        found += conclude(pairs_of(shown - old, issues)).word == Word.BETTER
    return found / draws


POWER = {1: 0.80, 3: 0.78, 5: 0.69, 6: 0.78, 10: 0.74, 20: 0.78, 60: 0.77}
"""Share of losses of 8 points over 200 tests that are found, by number of issues."""

Side = Callable[[Ints, np.random.Generator], list[Outcome]]


def jury_side(share: float, *, silent_on_failed: float = 0.0, gone: bool = False) -> Side:
    """Return the outcomes of answers under three judges and a majority.

    On every fifth test one of the judges disagrees with the others, on either side alike.

    Args:
        share: Of each answer's judgments, missing at random.
        silent_on_failed: Chance that a judge which would fail an answer gives no judgment.
        gone: One of the judges gave none at all.
    """

    def side(passed: Ints, rng: np.random.Generator) -> list[Outcome]:
        verdicts = np.repeat(passed[:, np.newaxis], JURY, axis=1)
        split = np.arange(0, len(passed), 5)
        verdicts[split, split // 5 % JURY] = 1 - verdicts[split, split // 5 % JURY]
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
    """Yield what is concluded of two runs.

    The first passes 70 %; 5 % of the tests are lost and 5 % won by chance, and `loss` besides.
    """
    issues = issues_of(g, equal=True)
    rng = np.random.default_rng(g + round(100 * loss))
    whole = jury_side(0.0)
    for _ in range(draws):
        old = (rng.random(TESTS) < 0.7).astype(np.int64)
        lost = (old == 1) & (rng.random(TESTS) < (0.05 + loss) / 0.7)
        won = (old == 0) & (rng.random(TESTS) < 0.05 / 0.3)
        new = np.where(lost, 0, np.where(won, 1, old))
        sides = zip(issues.tolist(), whole(old, rng), new_side(new, rng), strict=True)
        yield conclude(Pair(*one) for one in sides)


@cache
def words_of(g: int, loss: float, name: str, draws: int) -> Counter[str]:
    """Return how often each word is concluded, and how often a gate on it exits with 0."""
    found: Counter[str] = Counter()
    for one in conclusions(g, loss, MISSING[name], draws):
        found[one.word] += 1
        found["passes"] += not (one.word.is_loss or one.may_hide_loss or one.would_say)
    return found


def share_of(words: Iterable[str], g: int, loss: float, name: str, draws: int) -> float:
    found = words_of(g, loss, name, draws)
    return sum(found[word] for word in words) / draws


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
    for g in (6, 10, 20):
        yield Check(
            f"change, none, by the former rule: {g} issues, correlation 0.2",
            *(0.0, 0.065),
            one_in(SLOW, partial(false_by_changed_issues, g, 0.2)),
            caveat="the former rule",
        )
    for g, power in POWER.items():
        yield Check(
            f"worse, 8 points lost: {g} issues",
            *(power - 0.05, min(1.0, power + 0.05)),
            one_in(10, partial(found_worse, g, TESTS, 0.1, 0.08, 0)),
        )
    for g, tests, lost in ((20, 200, 1), (20, 200, 2), (20, 200, 5)):
        yield Check(
            f"worse, {lost} of {g} issues lost",
            *(0.95, 1.0),
            one_in(SLOW, partial(found_worse, g, tests, 0.04, 0.0, lost)),
        )
    for which in REVIEWED:
        yield Check(
            f"better without a change: people review {which} of one run",
            *(0.0, 0.05),
            one_in(SLOW, partial(better_by_review, which, mixes=False)),
        )
        yield Check(
            f"the same, with reviews in place of judges: {which}",
            *(0.0, 0.05),
            one_in(SLOW, partial(better_by_review, which, mixes=True)),
            caveat="the former rule",
        )
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
    for g, name in product((1, 3, 20), MISSING):
        yield Check(
            f"better without a change: {g} issues, {name}",
            *(0.0, 0.03),
            one_in(4, partial(share_of, BETTER, g, 0.0, name)),
        )
        yield Check(
            f"worse without a change: {g} issues, {name}",
            *(0.0, 0.05),
            one_in(4, partial(share_of, LOSSES, g, 0.0, name)),
        )
    for name in MISSING:
        yield Check(
            f"gate passes a loss of 8 points: {name}",
            *(0.0, 0.25),
            one_in(4, partial(share_of, ["passes"], 20, 0.08, name)),
        )
