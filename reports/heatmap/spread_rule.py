"""Rows of the heat map on which models differ significantly. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.row_permutation import DRAWS, columns_differ_p

MIN_TESTS = 6
"""With fewer tests, or issues, even a row on which all differ alike may be one by chance."""

SEED = 1
METHOD = "permutation within tests"
METHOD_BY_ISSUE = "permutation within issues"
_DRAWS_FOR_EACH = 100
"""Permutations per row corrected for: fewer could make none of many rows significant."""


class RunTest(NamedTuple):
    """A scored test of a run; `share` of its repeats passed."""

    row: int | str
    run: int
    test: int
    issue: int
    share: float


class Spread(NamedTuple):
    """The significance of the differences on a row: p corrected for all rows (Holm)."""

    tests: int
    holm: float
    method: str


def spreads(tests: Iterable[RunTest]) -> dict[int | str, Spread]:
    """Test each row with at least 6 tests that all its models have scored, two models or more.

    The scores of a test are permuted between models; in a row of 6 issues or more those of whole
    issues, since tests of one issue tend to pass and fail together.
    """
    rows: dict[int | str, dict[int, dict[int, RunTest]]] = defaultdict(lambda: defaultdict(dict))
    for one in tests:
        rows[one.row][one.test][one.run] = one
    shared = {row: _shared(by_test) for row, by_test in rows.items()}
    enough = {row: found for row, found in shared.items() if len(found) >= MIN_TESTS}
    draws = max(DRAWS, _DRAWS_FOR_EACH * len(enough))
    units = {row: _units(found) for row, found in enough.items()}
    p_values = [columns_differ_p(table, seed=SEED, draws=draws) for table, _ in units.values()]
    return {
        row: Spread(len(enough[row]), p, units[row][1])
        for row, p in zip(units, holm(p_values), strict=True)
        if p is not None
    }


def _shared(by_test: Mapping[int, Mapping[int, RunTest]]) -> list[list[RunTest]]:
    """Return the tests that all runs of the row have scored, each by run."""
    runs = sorted({run for by_run in by_test.values() for run in by_run})
    if len(runs) < 2:
        return []
    return [
        [by_run[run] for run in runs] for by_run in by_test.values() if len(by_run) == len(runs)
    ]


def _units(tests: Sequence[Sequence[RunTest]]) -> tuple[list[list[float]], str]:
    """Return the shares of each unit by run, and the name of the test."""
    shares = np.array([[one.share for one in by_run] for by_run in tests])
    issues, places = np.unique([by_run[0].issue for by_run in tests], return_inverse=True)
    if len(issues) < MIN_TESTS:
        return shares.tolist(), METHOD
    sums = np.zeros((len(issues), shares.shape[1]))
    np.add.at(sums, places, shares)
    return sums.tolist(), METHOD_BY_ISSUE
