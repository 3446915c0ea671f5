"""How often the default gate fails, or cannot tell, where nothing changed.

Tests change independently, as in `changes`.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from evalhub.statistics.changes.conclusion import conclude
from reports.gate.exit_codes import ExitCode
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import TESTS, drawn_changes, issues_of, pairs_of
from tests.bench.validity.missing import exit_of

SLOW = 20
"""One comparison in so many draws."""


@cache
def exits(g: int, equal: bool, tests: int, changed: float, draws: int) -> Counter[ExitCode]:
    issues = issues_of(g, equal=equal, tests=tests)
    rng = np.random.default_rng([g, equal, tests, round(100 * changed)])
    drawn = (drawn_changes(issues, changed, 0.0, 0.0, rng) for _ in range(draws))
    return Counter(exit_of(conclude(pairs_of(changes, issues))) for changes in drawn)


def exit_share(
    code: ExitCode, g: int, equal: bool, tests: int, changed: float, draws: int
) -> float:
    return exits(g, equal, tests, changed, draws)[code] / draws


def checks() -> Iterator[Check]:
    for g, (equal, changed) in product(
        (1, 2, 3, 5, 6, 10, 20, 60), ((True, 0.02), (False, 0.1), (True, 0.4))
    ):
        sizes = "equal" if equal else "unequal"
        fails = partial(exit_share, ExitCode.DOES_NOT_HOLD, g, equal, TESTS, changed)
        name = f"gate, false alarms: {g} {sizes} issues, {changed:.0%} of the tests change"
        yield Check(name, 0.0, 0.05, one_in(SLOW, fails))
    for g, tests, changed, low, high in (
        (1, 40, 0.1, 0.04, 0.14),
        (5, 50, 0.15, 0.03, 0.19),
        (20, 200, 0.15, 0.0, 0.05),
    ):
        unsure = partial(exit_share, ExitCode.CANNOT_TELL, g, True, tests, changed)
        name = f"gate, exit 2 without a change: {tests} tests in {g} issues, {changed:.0%} change"
        yield Check(name, low, high, one_in(SLOW, unsure))
