"""The outcome of an issue in each run, its turning points, and passes in a row. Pure.

An issue passes in a run if all of its answers passed, and fails if one failed. Otherwise (errors,
unscored) its outcome is unknown and counts neither way.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple


class IssueOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


class IssueResult(NamedTuple):
    """The results of an issue in a run.

    Attributes:
        line: The model variant, model or family.
        release: "" without one.
        together: Launch and day; runs without a release that share it count as one release.
        excluded: Results that are errors, unscored or pending.
    """

    run: int
    line: Hashable
    release: str
    together: Hashable
    at: datetime
    passed: int
    failed: int
    excluded: int = 0

    @property
    def issue_outcome(self) -> IssueOutcome:
        if self.failed:
            return IssueOutcome.FAILED
        return IssueOutcome.PASSED if self.passed and not self.excluded else IssueOutcome.UNKNOWN


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
    """A release, or a launch without one, with the newest run of each model."""

    name: str
    runs: tuple[IssueResult, ...]

    @property
    def issue_outcome(self) -> IssueOutcome:
        """Failed if any model failed; models with unknown outcome do not count."""
        outcomes = {seen.issue_outcome for seen in self.runs}
        if IssueOutcome.FAILED in outcomes:
            return IssueOutcome.FAILED
        return IssueOutcome.PASSED if IssueOutcome.PASSED in outcomes else IssueOutcome.UNKNOWN


def release_points(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """Return the releases in the order of their first runs."""
    ordered = sorted(runs, key=_time)
    points: dict[tuple[str, Hashable], dict[Hashable, IssueResult]] = defaultdict(dict)
    for seen in ordered:
        points[seen.release, "" if seen.release else seen.together][seen.line] = seen
    return [
        ReleasePoint(release, tuple(newest.values())) for (release, _), newest in points.items()
    ]


def passed_in_a_row(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """Return the newest releases that passed in a row, newest first.

    If any run has a release, launches without one do not count, but a failed one ends the row.
    """
    points = release_points(runs)
    has_releases = any(point.name for point in points)
    row = []
    for point in reversed(points):
        if point.issue_outcome == IssueOutcome.FAILED:
            break
        if point.issue_outcome == IssueOutcome.PASSED and (point.name or not has_releases):
            row.append(point)
    return row


def failures_after_resolution(
    runs: Iterable[IssueResult], resolved_at: datetime
) -> list[IssueResult]:
    """Return the runs launched after the resolution in which the issue failed again.

    A model that already failed at the resolution counts only after it has passed once.
    """
    found = []
    for mine in by_line(runs).values():
        known = [seen for seen in mine if seen.issue_outcome != IssueOutcome.UNKNOWN]
        before = [seen for seen in known if seen.at <= resolved_at]
        fails = bool(before) and before[-1].issue_outcome == IssueOutcome.FAILED
        for seen in known[len(before) :]:
            if seen.issue_outcome == IssueOutcome.FAILED and not fails:
                found.append(seen)
            fails = fails and seen.issue_outcome == IssueOutcome.FAILED
    return sorted(found, key=_time)
