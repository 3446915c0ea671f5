"""Proposals to resolve or reopen an issue, drawn from its runs. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evalhub.display.formatting import counted, few, listed
from reports.issue_timeline.rule import (
    IssueOutcome,
    IssueResult,
    ReleasePoint,
    failing_again,
    passed_in_a_row,
)

Button = Literal["resolve", "reopen"]

MAX_NAMED = 5


@dataclass(frozen=True)
class Proposal:
    """A proposed change of an issue's state.

    Attributes:
        reason: In sentences; `brief` is the same in few words, for the history.
        runs: The runs it is drawn from, newest first.
        is_automatic: The suites of all these runs say that it is done without asking.
    """

    issue: int
    act: Button
    reason: str
    brief: str
    runs: tuple[int, ...]
    is_automatic: bool = False


def resolving(issue: int, runs: Iterable[IssueResult], *, releases: int) -> Proposal | None:
    """Propose to resolve an issue that passed enough releases in a row with every model.

    Args:
        runs: With variants of models as lines.
        releases: Number of releases that is enough.
    """
    row = passed_in_a_row(runs)
    n, names = len(row), [point.name for point in reversed(row[:MAX_NAMED])]
    if n < max(1, releases):
        return None
    units = counted(n, "release") if names[0] else counted(n, "launch", "launches")
    named = f"{', most recently ' if n > MAX_NAMED else ': '}{listed(names)}" if names[0] else ""
    seen = sorted((one for point in row for one in point.runs), key=_newest_first)
    return Proposal(
        issue,
        "resolve",
        f"Passed {units} in a row{named}, in {counted(len(seen), 'run')}. The newest: "
        f"{row[0].evidence.words}",
        f"passed {units} in a row",
        tuple(one.run for one in seen),
    )


def reopening(
    issue: int, runs: Iterable[IssueResult], resolved_at: datetime, names: Mapping[int, str]
) -> Proposal | None:
    """Propose to reopen an issue that fails in the newest release after its resolution.

    Args:
        runs: With models as lines.
        names: Of the runs with their models, by run.
    """
    point = failing_again(runs, resolved_at)
    if point is None:
        return None
    seen = sorted(point.runs, key=_newest_first)
    evidence = point.evidence
    release = f"release {point.name}" if point.name else "the newest launch"
    failed = _failed(point)
    models = few([names[run] for run in failed], most=MAX_NAMED)
    named = f"run{'s' if len(failed) > 1 else ''} {few([*map(str, failed)], most=MAX_NAMED)}"
    share = f"{evidence.failed:,} of {evidence.failed + evidence.passed:,} tests × models"
    return Proposal(
        issue,
        "reopen",
        f"Failed again after its resolution, in {release} with {models}: {evidence.words}",
        f"failed again in {named} ({share})",
        tuple(one.run for one in seen),
    )


def _failed(point: ReleasePoint) -> list[int]:
    """Return the runs in which the issue failed; where it failed only in all together, its part."""
    failed = [one.run for one in point.runs if one.issue_outcome == IssueOutcome.FAILED]
    return failed or [one.run for one in point.runs if one.failed]


def _newest_first(seen: IssueResult) -> tuple[float, int]:
    return -seen.at.timestamp(), -seen.run
