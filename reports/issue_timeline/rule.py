"""The outcome of an issue in runs and releases, turning points, and passes in a row. Pure.

The unit is a test with a model and a revision, however often it was asked. It is flaky if it both
passed and failed in the runs that are looked at: it is set aside and named. So is, unnamed, one
that did so only by verdicts taken from other runs. The issue

- fails, if more of the other tests fail than the judges' measured share of false fails explains
  (one-sided binomial test, 5 %). A share that was not measured counts as 0: one failure is enough;
- passes, if it does not fail and more than half of all tests, flaky and unscored ones included,
  pass;
- is unknown otherwise, and counts neither way.

`dev.py bench validity issue` measures how often an issue without an error fails.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from itertools import chain, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.display.formatting import few, percent
from evalhub.statistics.changes.change_test import is_significant
from evalhub.statistics.rates.binomial import at_most

PASSING_SHARE = 0.5
"""An issue passes only if more than this share of its tests do."""


class IssueOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


TEST, REVISION, PASSED, FAILED, EXCLUDED, PASSED_ASKED, FAILED_ASKED = range(7)
"""The columns of `AnswerCounts`; excluded are errors, unscored or pending, asked are those of the
passed and failed ones whose verdicts were not taken from another run."""

AnswerCounts = NDArray[np.int64]
"""The answers to each test and revision in a run; shape (tests, 7)."""


class FalseFails(NamedTuple):
    """Share of answers passed by humans that the judges fail; `n` answers were drawn at random.

    Not measured where `n` is 0: `rate` is 0 then.
    """

    rate: float = 0.0
    n: int = 0


NOT_MEASURED = FalseFails()


class UnitCounts(NamedTuple):
    """Tests of an issue in some runs, each with every model that it was asked of.

    Attributes:
        passed: How many passed and never failed.
        failed: How many failed and never passed.
        flaky: Ids of those that did both where judges were asked.
        measured: How many results of passed and failed ones each run has.
    """

    total: int
    passed: int
    failed: int
    flaky: list[int]
    measured: list[int]


@dataclass(frozen=True, eq=False)
class IssueResult:
    """The results of an issue in a run.

    Attributes:
        line: The model variant, model or family.
        release: "" without one.
        together: Launch and day; runs without a release that share it count as one release.
        false_fails: Of the judges that scored the run.
    """

    run: int
    line: Hashable
    release: str
    together: Hashable
    at: datetime
    tests: AnswerCounts
    false_fails: FalseFails = NOT_MEASURED

    @property
    def passed(self) -> int:
        return int(self.tests[:, PASSED].sum())

    @property
    def failed(self) -> int:
        return int(self.tests[:, FAILED].sum())

    @property
    def excluded(self) -> int:
        return int(self.tests[:, EXCLUDED].sum())

    @cached_property
    def units(self) -> UnitCounts:
        passed, failed = self.tests[:, PASSED] > 0, self.tests[:, FAILED] > 0
        only_passed = int(np.count_nonzero(passed & ~failed))
        only_failed = int(np.count_nonzero(failed & ~passed))
        is_flaky = (self.tests[:, [PASSED_ASKED, FAILED_ASKED]] > 0).all(axis=1)
        flaky = self.tests[is_flaky, TEST].tolist()
        return UnitCounts(len(passed), only_passed, only_failed, flaky, [only_passed + only_failed])

    @cached_property
    def evidence(self) -> "IssueEvidence":
        return _evidence(self.units, [self.false_fails])

    @property
    def issue_outcome(self) -> IssueOutcome:
        return self.evidence.issue_outcome


@dataclass(frozen=True)
class IssueEvidence:
    """Tests of an issue in some runs, each with every model that it was asked of.

    Attributes:
        total: All of them, of which `passed` and `failed` are not flaky.
        flaky: Ids of tests that both passed and failed with one model.
        false_fails: The mean over the failed and passed ones; not measured if it is not for one.
    """

    total: int
    passed: int
    failed: int
    flaky: tuple[int, ...]
    false_fails: FalseFails

    @cached_property
    def p(self) -> float:
        """P(as many failures or more), if humans would pass all; one-sided, binomial."""
        n = self.passed + self.failed
        return at_most(n - self.failed, n, 1 - self.false_fails.rate)

    @cached_property
    def issue_outcome(self) -> IssueOutcome:
        if self.failed and is_significant(self.p):
            return IssueOutcome.FAILED
        if self.passed > PASSING_SHARE * self.total:
            return IssueOutcome.PASSED
        return IssueOutcome.UNKNOWN

    @property
    def p_words(self) -> str:
        return f"p {'<' if self.p < MIN_P else '='} {max(self.p, MIN_P):.2g}, binomial test"

    @property
    def words(self) -> str:
        """The counts, the test and what was set aside, as sentences."""
        n = self.passed + self.failed
        rate = self.false_fails
        judges = (
            f"judges fail {percent(rate.rate)} of {rate.n:,} answers that humans pass"
            if rate.n
            else "the judges' share of false fails was not measured and counts as 0"
        )
        found = f"{self.failed:,} of {n:,} tests × models fail ({judges}; {self.p_words})."
        if not self.flaky:
            return found
        named = few([f"test {test}" for test in self.flaky])
        return f"{found} Flaky and set aside: {named}."


MIN_P = 0.0001


def evidence_of(runs: Sequence[IssueResult]) -> IssueEvidence:
    """Add up the tests of an issue over runs, each with a model and a revision."""
    is_asked_once = len({seen.line for seen in runs}) == len(runs)
    units = _units_of_models(runs) if is_asked_once else _units_of(runs)
    return _evidence(units, [seen.false_fails for seen in runs])


def _evidence(units: UnitCounts, rates: Sequence[FalseFails]) -> IssueEvidence:
    return IssueEvidence(
        units.total,
        units.passed,
        units.failed,
        tuple(sorted(set(units.flaky))),
        _mean(rates, units.measured),
    )


def _units_of_models(runs: Iterable[IssueResult]) -> UnitCounts:
    """Add up runs of different models: no test of one is a test of another."""
    total, passed, failed, flaky, measured = zip(*(seen.units for seen in runs), strict=True)
    return UnitCounts(
        sum(total), sum(passed), sum(failed), list(chain(*flaky)), list(chain(*measured))
    )


def _units_of(runs: Sequence[IssueResult]) -> UnitCounts:
    """Add up the answers of all runs by model, test and revision."""
    lines = {seen.line: number for number, seen in enumerate(runs)}
    sizes = [len(seen.tests) for seen in runs]
    rows = np.concatenate([seen.tests for seen in runs])
    line = np.repeat([lines[seen.line] for seen in runs], sizes)
    keys = np.column_stack([line, rows[:, [TEST, REVISION]]])
    units, of_row = np.unique(keys, axis=0, return_inverse=True)
    passed, failed, *asked = (
        np.bincount(of_row, rows[:, one]) > 0
        for one in (PASSED, FAILED, PASSED_ASKED, FAILED_ASKED)
    )
    is_measured = (passed != failed)[of_row]
    run = np.repeat(np.arange(len(runs)), sizes)
    return UnitCounts(
        len(units),
        int(np.count_nonzero(passed & ~failed)),
        int(np.count_nonzero(failed & ~passed)),
        units[np.logical_and(*asked), 1].tolist(),
        np.bincount(run[is_measured], minlength=len(runs)).tolist(),
    )


def _mean(rates: Sequence[FalseFails], counts: Sequence[int]) -> FalseFails:
    """Return the mean share, each counted so often; its `n` is that of the smallest sample.

    With differing shares the binomial test of their mean is conservative (W. Hoeffding, 1956,
    Annals of Mathematical Statistics 27, 713-721).
    """
    counted = [(rate, n) for rate, n in zip(rates, counts, strict=True) if n]
    if not counted:
        return NOT_MEASURED
    share = sum(rate.rate * n for rate, n in counted) / sum(counts)
    return FalseFails(share, min(rate.n for rate, _ in counted))


def _time(seen: IssueResult) -> tuple[datetime, int]:
    return seen.at, seen.run


# One model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TurningPoints:
    """The turning points of one model's runs; None: there is no such run.

    Attributes:
        passed_before: The last pass before the first failure; the regression lies in between.
        passed_again: The first pass after the first failure.
        now: The newest run with a known outcome.
        streak: Number of newest runs in a row with the same outcome.
    """

    first_failed: IssueResult | None
    passed_before: IssueResult | None
    passed_again: IssueResult | None
    now: IssueResult | None
    streak: int


def turning_points(runs: Iterable[IssueResult]) -> TurningPoints:
    """Find the turning points of one model's runs, given in any order."""
    known = [seen for seen in sorted(runs, key=_time) if seen.issue_outcome != IssueOutcome.UNKNOWN]
    if not known:
        return TurningPoints(None, None, None, None, 0)
    outcomes = [seen.issue_outcome for seen in known]
    broke = outcomes.index(IssueOutcome.FAILED) if IssueOutcome.FAILED in outcomes else None
    before = known[:broke] if broke is not None else []
    after = known[broke:] if broke is not None else []
    return TurningPoints(
        first_failed=after[0] if after else None,
        passed_before=before[-1] if before else None,
        passed_again=next(
            (seen for seen in after if seen.issue_outcome == IssueOutcome.PASSED), None
        ),
        now=known[-1],
        streak=sum(1 for _ in takewhile(lambda one: one == outcomes[-1], reversed(outcomes))),
    )


def by_line(runs: Iterable[IssueResult]) -> dict[Hashable, list[IssueResult]]:
    """Group the runs by model, oldest first."""
    lines: dict[Hashable, list[IssueResult]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        lines[seen.line].append(seen)
    return dict(lines)


# All models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasePoint:
    """A release, or a launch without one, with its runs of all models, oldest first."""

    name: str
    runs: tuple[IssueResult, ...]

    @cached_property
    def evidence(self) -> IssueEvidence:
        return evidence_of(self.runs)

    @property
    def issue_outcome(self) -> IssueOutcome:
        return self.evidence.issue_outcome


def release_points(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """Return the releases in the order of their first runs."""
    points: dict[tuple[str, Hashable], list[IssueResult]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        points[seen.release, "" if seen.release else seen.together].append(seen)
    return [ReleasePoint(release, tuple(found)) for (release, _), found in points.items()]


def passed_in_a_row(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """Return the newest releases that passed in a row, newest first."""
    return passed_last(release_points(runs))


def passed_last(points: Sequence[ReleasePoint]) -> list[ReleasePoint]:
    """Return the newest of these releases that passed in a row, newest first.

    If any run has a release, launches without one do not count, but a failed one ends the row.
    """
    has_releases = any(point.name for point in points)
    row = []
    for point in reversed(points):
        if point.issue_outcome == IssueOutcome.FAILED:
            break
        if point.issue_outcome == IssueOutcome.PASSED and (point.name or not has_releases):
            row.append(point)
    return row


def failing_again(runs: Iterable[IssueResult], resolved_at: datetime) -> ReleasePoint | None:
    """Return the newest release after the resolution if the issue fails in it, else None.

    A model that already failed at the resolution counts only after it has passed once. Releases
    with an unknown outcome do not count.
    """
    found: list[IssueResult] = []
    for mine in by_line(runs).values():
        known = [seen for seen in mine if seen.issue_outcome != IssueOutcome.UNKNOWN]
        before = [seen for seen in known if seen.at <= resolved_at]
        fails = bool(before) and before[-1].issue_outcome == IssueOutcome.FAILED
        for seen in (one for one in mine if one.at > resolved_at):
            fails = fails and seen.issue_outcome != IssueOutcome.PASSED
            if not fails:
                found.append(seen)
    points = [p for p in release_points(found) if p.issue_outcome != IssueOutcome.UNKNOWN]
    return points[-1] if points and points[-1].issue_outcome == IssueOutcome.FAILED else None
