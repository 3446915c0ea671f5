"""Outcome of an issue in a release: how often one without an error fails all the same.

The rule: an issue fails in a release if more of its tests fail than the judges' measured share of
false fails explains (one-sided binomial test, 5 %). So a truly fixed issue fails in at most 5 % of
releases, whether the judges' errors on repeats of a test agree or not; and one that is broken fails
in nearly all.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import numpy as np

from reports.issue_timeline.rule import FalseFails, IssueOutcome, IssueResult, release_points
from tests.bench.validity import Check

AT = datetime(2026, 3, 1, tzinfo=UTC)


class Release(NamedTuple):
    """A release: tests of the issue, repeats of each, models, and the judges' false fails.

    `agree`: the judges err on all repeats of a test or on none. `fails` is the true share of tests
    that each model fails.
    """

    tests: int
    repeats: int
    models: int
    false_fails: float = 0.03
    agree: bool = False
    fails: float = 0.0

    @property
    def words(self) -> str:
        errors = "agreeing" if self.agree else "independent"
        return (
            f"{self.tests} tests × {self.repeats} repeats × {self.models} models, "
            f"{self.false_fails:.0%} false fails, {errors}"
        )


FIXED = tuple(
    Release(tests, repeats, models, rate, agree=agree)
    for tests, repeats, models in ((5, 3, 2), (5, 1, 2), (1, 1, 1), (20, 1, 4), (3, 5, 1))
    for rate in (0.03, 0.1)
    for agree in ((False, True) if repeats > 1 else (False,))
)
BROKEN = Release(5, 3, 2, fails=1.0)


def checks() -> Iterator[Check]:
    for release in FIXED:
        name = f"issue: fixed, fails in a release, {release.words}"
        yield Check(name, 0, 0.05, partial(share, IssueOutcome.FAILED, release))
    name = f"issue: fixed, passes in a release, {FIXED[0].words}"
    yield Check(name, 0.9, 1, partial(share, IssueOutcome.PASSED, FIXED[0]))
    name = f"issue: broken, fails in a release, {BROKEN.words}"
    yield Check(name, 0.95, 1, partial(share, IssueOutcome.FAILED, BROKEN))


def share(outcome: IssueOutcome, release: Release, draws: int) -> float:
    """Return the share of simulated releases with this outcome of the issue."""
    rng = np.random.default_rng(round(1000 * sum(release)))
    draws = max(1, draws // 5)
    return sum(_point(release, rng) == outcome for _ in range(draws)) / draws


def _point(release: Release, rng: np.random.Generator) -> IssueOutcome:
    shape = (release.models, release.tests, 1 if release.agree else release.repeats)
    errs = rng.random(shape) < release.false_fails
    is_failed = errs | (rng.random((release.models, release.tests, 1)) < release.fails)
    failed = is_failed.sum(axis=2) * (release.repeats // shape[2])
    runs = [
        IssueResult(
            model,
            model,
            "1.0",
            0,
            AT,
            np.array(
                [
                    (test, 1, release.repeats - n, n, 0, release.repeats - n, n)
                    for test, n in enumerate(tests)
                ]
            ),
            FalseFails(release.false_fails, 200),
        )
        for model, tests in enumerate(failed)
    ]
    (point,) = release_points(runs)
    return point.issue_outcome
