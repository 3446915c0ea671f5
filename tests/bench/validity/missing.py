"""What is missing on one side, and what is then concluded.

The model: 200 tests, three judges and a majority. The first run passes 70 %; 5 % of the tests are
lost and 5 % won by chance, and in some worlds 8 points besides. The answers are the same whatever
is missing, so that worlds are compared draw by draw.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from evalhub.statistics.changes.conclusion import Conclusion, Outcome, Pair, Word, conclude
from reports.compare.rule import Tally
from reports.gate.change_rules import Change, change_lines
from reports.gate.exit_codes import ExitCode
from reports.gate.rule import decide
from runs.suites.gate_policy import GatePolicy
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import FORMER, TESTS, WHOLE, Ints, issues_of

JURY = 3
LOSS = 0.08

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
        verdicts = np.repeat(passed[:, np.newaxis] > 0, JURY, axis=1)
        split = np.arange(0, len(passed), 5)
        verdicts[split, split // 5 % JURY] ^= True
        missing = rng.random(verdicts.shape) < share
        missing |= ~verdicts & (rng.random(verdicts.shape) < silent_on_failed)
        missing[:, 0] |= gone
        given = (~missing).sum(axis=1)
        passes = 2 * (verdicts & ~missing).sum(axis=1) > given
        low = passes & (2 * (verdicts & ~missing).sum(axis=1) > JURY)
        high = passes | (2 * (verdicts | missing).sum(axis=1) > JURY)
        rows = zip(
            given.tolist(),
            *(one.astype(float).tolist() for one in (passes, low, high)),
            strict=True,
        )
        return [Outcome(*row) if some else Outcome(None) for some, *row in rows]

    return side


def errors_on_failed(chance: float) -> Side:
    """Return outcomes of which some that would fail are errors."""

    def side(passed: Ints, rng: np.random.Generator) -> list[Outcome]:
        lost = (passed == 0) & (rng.random(len(passed)) < chance)
        return [
            Outcome(None) if gone else WHOLE[one]
            for one, gone in zip(passed.tolist(), lost.tolist(), strict=True)
        ]

    return side


MISSING = {
    "nothing missing": jury_side(0.0),
    "1 % of judgments missing": jury_side(0.01),
    "5 % of judgments missing": jury_side(0.05),
    "one of three judges gone": jury_side(0.0, gone=True),
    "a judge silent on what it would fail": jury_side(0.0, silent_on_failed=0.6),
    "half of the failing answers errors": errors_on_failed(0.5),
}


def conclusions(g: int, loss: float, new_side: Side, draws: int) -> Iterator[Conclusion]:
    issues = issues_of(g, equal=True).tolist()
    answers = np.random.default_rng([g, round(100 * loss)])
    missing = np.random.default_rng([g, round(100 * loss), 1])
    whole = jury_side(0.0)
    for _ in range(draws):
        old = (answers.random(TESTS) < 0.7).astype(np.int64)
        flips = answers.random(TESTS) < np.where(old == 1, (0.05 + loss) / 0.7, 0.05 / 0.3)
        new = np.where(flips, 1 - old, old)
        sides = zip(issues, whole(old, missing), new_side(new, missing), strict=True)
        yield conclude(Pair(*one) for one in sides)


def exit_of(found: Conclusion) -> ExitCode:
    """Return how the default gate exits."""
    assert found.reading is not None
    tally = Tally(0, 0, found.reading.net.tests, found.reading.net.change)
    return decide(change_lines(Change(tally, found, ("1.3", "1.4"), {}), GatePolicy())).code


Shown = tuple[Word, ExitCode, Word]
"""What is concluded, how the gate exits, and what the scored tests alone would say."""


@cache
def shown(g: int, loss: float, name: str, draws: int) -> Counter[Shown]:
    found: Counter[Shown] = Counter()
    for one in conclusions(g, loss, MISSING[name], draws):
        assert one.reading is not None
        found[one.word, exit_of(one), one.reading.word] += 1
    return found


def share(is_counted: Callable[[Shown], bool], g: int, loss: float, name: str, draws: int) -> float:
    return sum(n for one, n in shown(g, loss, name, draws).items() if is_counted(one)) / draws


def is_better(one: Shown) -> bool:
    return one[0] == Word.BETTER


def gate_fails(one: Shown) -> bool:
    return one[1] == ExitCode.DOES_NOT_HOLD


def gate_passes(one: Shown) -> bool:
    return one[1] == ExitCode.HOLDS


def more_passed(name: str, draws: int) -> float:
    """Return how much more often the gate passes a loss than where nothing is missing."""
    passed = [share(gate_passes, 20, LOSS, one, draws) for one in (name, "nothing missing")]
    return passed[0] - passed[1]


def checks() -> Iterator[Check]:
    others = ((g, "nothing missing") for g in (2, 5, 6, 10, 60))
    for g, name in (*product((1, 3, 20), MISSING), *others):
        for what, most, is_counted in (
            ("better", 0.03, is_better),
            ("gate 1", 0.05, gate_fails),
        ):
            measure = one_in(4, partial(share, is_counted, g, 0.0, name))
            yield Check(f"{what} without a change: {g} issues, {name}", 0.0, most, measure)
    for name in list(MISSING)[1:]:
        yield Check(
            f"gate passes more losses of 8 points than with nothing missing: {name}",
            *(-1.0, 0.005),
            one_in(10, partial(more_passed, name)),
        )
    for what, loss, name, is_counted in (
        ("worse", 0.0, "one of three judges gone", lambda one: one[2].is_loss),
        ("better", 0.0, "a judge silent on what it would fail", lambda one: one[2] == Word.BETTER),
        ("gate 0", LOSS, "half of the failing answers errors", lambda one: not one[2].is_loss),
    ):
        yield Check(
            f"{what} by scored tests alone, loss {loss}: {name}",
            *(0.0, 0.25 if loss else 0.05),
            one_in(10 if loss else 4, partial(share, is_counted, 20, loss, name)),
            FORMER,
        )
