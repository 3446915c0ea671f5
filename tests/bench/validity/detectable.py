"""The detectable change: the test that is used finds it with 80 % power, under the stated model.

The model: each test changes with the stated chance, independently; a net change of δ makes changes
for the better more frequent than those for the worse. At the stated δ the test has to find a change
in 80 % of comparisons, within the error of this simulation and of the stated figure's own.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evalhub.statistics.changes.change_test import change_test
from evalhub.statistics.changes.detectable import detectable_of
from tests.bench.validity import Check

POWER = (0.76, 0.84)
"""A simulated figure has a standard error of 1.6 points and is exact to 2 % of the change."""

SUITES = ((200, 1), (200, 4), (200, 8), (200, 20), (100, 100), (60, 30))
"""Tests, and issues."""


def power(tests: int, issues: int, measured: tuple[float, ...], draws: int) -> float:
    """Return the power at the detectable change; `measured` are changes of the pair before.

    Some suites of few tests change in steps, so that the power is above 80 %, never far below.
    """
    issue_of = [test % issues for test in range(tests)]
    found = detectable_of(issue_of, measured)
    assert found is not None
    assert found.change is not None
    sizes = np.abs(measured) if measured else np.array([1.0] * 15 + [0.0] * 85)
    bias = found.change / sizes.mean()
    rng = np.random.default_rng(tests + issues)
    told = 0
    for _ in range(max(1, draws // 5)):
        changes = rng.choice(sizes, tests) * np.where(rng.random(tests) < (1 + bias) / 2, 1, -1)
        p = change_test(changes.tolist(), issue_of, single=not (sizes % 1).any()).p
        told += p is not None and p <= 0.05
    return told / max(1, draws // 5)


def checks() -> Iterator[Check]:
    halves = (0.5, -0.5, 1.0, 0.0, 0.0, 0.0) * 10
    for tests, issues in SUITES:
        for name, measured in (
            ("15% assumed to change", ()),
            ("30% measured to change", (1.0, -1.0, -1.0, *[0.0] * 7) * 10),
            ("half of the tests change, mostly in part", halves),
        ):
            yield Check(
                f"detectable: {tests} tests in {issues} issues, {name}: power at the stated change",
                *POWER,
                partial(power, tests, issues, measured),
            )
