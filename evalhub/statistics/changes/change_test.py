"""The exact test of a change between two runs of the same tests, by test or by whole issue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalhub.statistics.arguments import check_lengths
from evalhub.statistics.changes.flip_distribution import flipped_p, terms_needed

ALPHA = 0.05
"""Level of tests: a p of at most this is significant."""

MIN_CHANGED = terms_needed(1, level=1 - ALPHA)
"""6: with fewer changes, even all in one direction, p is at least 2 / 2**5, above 0.05."""

MCNEMAR = "exact McNemar"
FLIPPED_TESTS = "sign flips of tests"
FLIPPED_ISSUES = "sign flips of whole issues"

METHOD = (
    f"{MCNEMAR} on flipped tests, with repeats exact sign flips of tests; exact sign flips of "
    f"whole issues where {MIN_CHANGED} issues or more have tests that changed."
)
"""The rule of `change_test` in words."""

MAY_FAIL_TOGETHER = "Tests of one issue may fail together."
"""The caveat of a test by test, where tests share issues."""

_TOLERANCE = 1e-9


class Flipped(NamedTuple):
    """The units whose signs are flipped: the sums of whole issues, or tests; without zeros."""

    terms: NDArray[np.float64]
    is_by_issue: bool


def flipped_units(
    changes: ArrayLike,
    issues: NDArray[np.int64],
    *,
    changed_only: bool = True,
    least: int = MIN_CHANGED,
) -> Flipped:
    """Return the units of evidence: whole issues where there are enough, else tests.

    The choice depends on the sizes of the changes alone, which no flip of signs alters, so that
    either test keeps its level.

    Args:
        changes: Of tests, shape (n,).
        issues: Of the same tests, as numbers, shape (n,).
        changed_only: Only issues with tests that changed are counted.
        least: So many issues are enough.
    """
    found = np.asarray(changes, dtype=np.float64)
    changed = abs(found) > _TOLERANCE
    terms = found[changed]
    moved, places = np.unique(issues[changed], return_inverse=True)
    if len(moved if changed_only else np.unique(issues)) < least:
        return Flipped(terms, is_by_issue=False)
    sums = np.bincount(places, terms, minlength=len(moved)).astype(np.float64)
    return Flipped(sums[abs(sums) > _TOLERANCE], is_by_issue=True)


@dataclass(frozen=True)
class ChangeTest:
    """The significance of a change.

    Attributes:
        p: Two-sided and exact; None where nothing was compared.
        rule: The name of the test.
        moved: Number of tests (or issues, where whole issues are flipped) that changed on balance.
        caveat: What p does not account for, as a sentence; "" where there is nothing.
        if_independent: The p by test, where whole issues are flipped; else None.
        independent_rule: The name of that test.
    """

    p: float | None
    rule: str
    moved: int = 0
    caveat: str = ""
    if_independent: float | None = None
    independent_rule: str = ""


def change_test(changes: Sequence[float], issues: Sequence[int], *, single: bool) -> ChangeTest:
    """Test whether these changes have a direction.

    Where fewer than 6 issues have tests that changed, signs of tests are flipped; with one answer
    a test that is McNemar's exact test. From 6 on signs of whole issues are flipped, since tests of
    one issue tend to change together.

    Args:
        changes: Of compared tests, shape (n,), each in [-1, 1].
        issues: Of the same tests.
        single: Both runs have one repeat of each test.
    """
    check_lengths(changes=changes, issues=issues)
    by_test = MCNEMAR if single else FLIPPED_TESTS
    if not changes:
        return ChangeTest(None, by_test)
    units = flipped_units(changes, np.asarray(issues, dtype=np.int64))
    p, moved = flipped_p(units.terms.tolist()), len(units.terms)
    if len(set(issues)) == len(issues):
        return ChangeTest(p, by_test, moved)
    if not units.is_by_issue:
        return ChangeTest(p, by_test, moved, MAY_FAIL_TOGETHER)
    return ChangeTest(p, FLIPPED_ISSUES, moved, "", flipped_p(changes), by_test)


def is_significant(p: float | None, alpha: float = ALPHA) -> bool:
    """Return whether p is at most the level; False where nothing was compared."""
    return p is not None and p <= alpha
