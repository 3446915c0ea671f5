"""Outcome of an issue in a release: how often it passes, fails or cannot be told, and wrongly so.

An issue without an error fails in at most 5 % of releases, whether the judges' errors on repeats of
a test agree or not; one whose rate is at its limit passes in at most 5 %; one that is broken fails,
its flaky tests included. The rule before set flaky tests aside: the world with four tests that fail
in 80 % of their answers passed it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import numpy as np

from evalhub.statistics.rates.behaviour_outcome import FalseFails, Word
from reports.issue_timeline.rule import IssueResult, evidence_of
from tests.bench.validity import Check, one_in
from tests.bench.validity.changes import FORMER

SLOW = 10
"""One release in so many draws."""

AT = datetime(2026, 3, 1, tzinfo=UTC)


class Release(NamedTuple):
    """A release: tests of the issue, repeats of each, models, and the judges' false fails.

    `agree`: the judges err on all repeats of a test or on none. The first `broken` tests fail in
    the share `fails` of their answers. `labels` are failed and passing ones that people read.
    """

    tests: int
    repeats: int
    models: int = 1
    false_fails: float = 0.03
    agree: bool = False
    broken: int = 0
    fails: float = 0.0
    severity: str = "critical"
    labels: tuple[int, int] = (2, 100)

    @property
    def words(self) -> str:
        judged = (
            f"{self.false_fails:.0%} false fails, {'agreeing' if self.agree else 'independent'}"
        )
        return (
            f"{self.tests} tests × {self.repeats} repeats × {self.models} models, {judged}, "
            f"{self.broken} fail {self.fails:.0%}, labels {self.labels[0]} of {self.labels[1]}"
        )


FIXED = [
    Release(tests, repeats, models, agree=agree)
    for tests, repeats, models in ((5, 3, 2), (10, 5, 1), (1, 1, 1), (20, 1, 4), (3, 5, 1))
    for agree in ((False, True) if repeats > 1 else (False,))
]
AT_LIMIT = [
    Release(29, 1, 1, 0, broken=29, fails=0.1),
    Release(29, 5, 1, 0, agree=True, broken=29, fails=0.1),
    Release(46, 3, 1, 0, broken=46, fails=0.1),
    Release(14, 1, 1, 0, broken=14, fails=0.2, severity="high"),
]
FLAKY = Release(10, 5, 1, 0.02, broken=4, fails=0.8)
PLANTED = [
    (FLAKY._replace(labels=(0, 24)), Word.FAILS, 0.93, 1),
    (FLAKY, Word.FAILS, 0.97, 1),
    (FLAKY._replace(labels=(0, 0)), Word.FAILS, 0.93, 1),
    (FLAKY._replace(repeats=3), Word.FAILS, 0.86, 0.96),
    (FLAKY._replace(repeats=1), Word.FAILS, 0.78, 0.93),
    (FLAKY, Word.PASSES, 0, 0),
    (Release(3, 5, 1, 0), Word.PASSES, 0, 0),
    (Release(28, 1, 1, 0), Word.PASSES, 0, 0),
    (Release(29, 1, 1, 0), Word.PASSES, 1, 1),
    (Release(100, 1, 1, 0.01), Word.PASSES, 0.95, 1),
]


def checks() -> Iterator[Check]:
    for release in FIXED:
        name = f"issue: fixed, fails, {release.words}"
        yield Check(name, 0, 0.05, one_in(SLOW, partial(share, Word.FAILS, release)))
    for release in AT_LIMIT:
        name = f"issue: at the limit, passes, {release.words}"
        yield Check(name, 0, 0.06, one_in(SLOW, partial(share, Word.PASSES, release)))
    for release, word, least, most in PLANTED:
        name = f"issue: {word.value}, {release.words}"
        yield Check(name, least, most, one_in(SLOW, partial(share, word, release)))
    name = f"issue: passes, flaky tests set aside, {FLAKY.words}"
    yield Check(name, 0, 0, one_in(SLOW, partial(passes_without_flaky, FLAKY)), FORMER)


def passes_without_flaky(release: Release, draws: int) -> float:
    """Return how often the former rule passes: no test fails each time, others are set aside."""
    rng = np.random.default_rng(1)
    failed = rng.random((draws, release.broken, release.repeats)) < release.fails
    return 1 - float(np.mean([tests.all(axis=1).any() for tests in failed]))


def share(word: Word, release: Release, draws: int) -> float:
    """Return the share of simulated releases with this outcome of the issue."""
    rng = np.random.default_rng(1)
    return sum(_word(release, rng) == word for _ in range(draws)) / draws


def _word(release: Release, rng: np.random.Generator) -> Word:
    shape = (release.models, release.tests, 1 if release.agree else release.repeats)
    fails = np.where(np.arange(release.tests) < release.broken, release.fails, 0.0)[:, None]
    is_failed = (rng.random(shape) < release.false_fails) | (rng.random(shape) < fails)
    failed = is_failed.sum(axis=2) * (release.repeats // shape[2])
    rate = FalseFails.measured(*release.labels)
    return evidence_of(
        IssueResult(
            *(model, model, "1.0", 0, AT, release.severity),
            np.array([(k, release.repeats - n, n, 0, n, n, 0) for k, n in enumerate(tests)]),
            rate,
        )
        for model, tests in enumerate(failed)
    ).word
