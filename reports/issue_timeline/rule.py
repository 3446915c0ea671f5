"""How an issue has done run after run: where it broke, where it passed again, what follows. Pure.

An issue passes in a run when every answer that the run decided of it passed, and none is left
undecided; it fails when one failed. Anything else is not known, and counts neither way.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

RELEASES = 3
"""An issue that passed so many releases in a row may be resolved, unless a site says otherwise."""


class IssueOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "not known"


class IssueResult(NamedTuple):
    """What a run made of the issue.

    Attributes:
        line: Which model it was, as the reader tells models apart.
        release: "" where the run has none.
        together: What was launched with it: runs without a release count as one by this.
        undecided: Results that ended in an error or are unjudged.
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
    """Where one model's runs turned; None: there is no such run.

    Attributes:
        passed_before: The last that passed before the first that failed: what broke the issue
            lies between the two.
        passed_again: The first that passed after the first that failed.
        now: The newest of which something is known.
        streak: How many of the newest went as it did, in a row.
    """

    first_failed: IssueResult | None
    passed_before: IssueResult | None
    passed_again: IssueResult | None
    now: IssueResult | None
    streak: int


def turning_points(runs: Iterable[IssueResult]) -> TurningPoints:
    """The turns of one model's runs, in whatever order these come."""
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
        streak=_streak(outcomes),
    )


def _streak(outcomes: Sequence[IssueOutcome]) -> int:
    """How many of the last are like the very last."""
    return next(
        (n for n, issue_outcome in enumerate(reversed(outcomes)) if issue_outcome != outcomes[-1]),
        len(outcomes),
    )


def by_line(runs: Iterable[IssueResult]) -> dict[Hashable, list[IssueResult]]:
    """The runs of each model, oldest first."""
    lines: dict[Hashable, list[IssueResult]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        lines[seen.line].append(seen)
    return dict(lines)


# All models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasePoint:
    """A release, or what was launched together without one: the newest run of each model in it."""

    name: str
    runs: tuple[IssueResult, ...]

    @property
    def issue_outcome(self) -> IssueOutcome:
        """It fails where any model does; a model of which nothing is known says nothing."""
        outcomes = {seen.issue_outcome for seen in self.runs}
        if IssueOutcome.FAILED in outcomes:
            return IssueOutcome.FAILED
        return IssueOutcome.PASSED if IssueOutcome.PASSED in outcomes else IssueOutcome.UNKNOWN


def release_points(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """The releases in the order of their first runs."""
    ordered = sorted(runs, key=_time)
    points: dict[tuple[str, Hashable], dict[Hashable, IssueResult]] = defaultdict(dict)
    for seen in ordered:
        points[seen.release, "" if seen.release else seen.together][seen.line] = seen
    return [
        ReleasePoint(release, tuple(newest.values())) for (release, _), newest in points.items()
    ]


def passed_in_a_row(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """The newest releases that passed, one after the other, newest first.

    Where runs have releases, those without one do not count; but one that fails ends the row.
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
    """Runs that were launched after it was resolved, and show the fault again.

    A model that was known to fail when it was resolved shows nothing new by failing, until it has
    passed once.
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
