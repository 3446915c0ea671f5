"""Proposals to resolve or reopen an issue, drawn from its runs. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evalhub.display.formatting import counted, few
from evalhub.statistics.rates.behaviour_outcome import Word
from reports.issue_timeline.rule import IssueResult, ReleasePoint, failing_again, passing_now

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


def resolving(issue: int, runs: Iterable[IssueResult]) -> Proposal | None:
    """Propose to resolve an issue that passes in the newest release with every model.

    Args:
        runs: With variants of models as lines.
    """
    point = passing_now(runs)
    if point is None:
        return None
    seen = sorted(point.runs, key=_newest_first)
    where = f"in {_named(point)}, in {counted(len(seen), 'run')}"
    return Proposal(
        issue,
        "resolve",
        f"Passes {where}: {point.evidence.in_line}",
        f"passes {where}",
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
    failed = _failed(point)
    models = few([names[run] for run in failed], most=MAX_NAMED)
    named = f"run{'s' if len(failed) > 1 else ''} {few([*map(str, failed)], most=MAX_NAMED)}"
    said = point.evidence.deciding
    share = f"{said.with_failures:,} of {counted(said.tests, 'test')}" if said else ""
    return Proposal(
        issue,
        "reopen",
        f"Failed again after its resolution, in {_named(point)} with {models}: "
        f"{point.evidence.in_line}",
        f"failed again in {named} ({share})",
        tuple(one.run for one in seen),
    )


def _named(point: ReleasePoint) -> str:
    return f"release {point.name}" if point.name else "the newest launch"


def _failed(point: ReleasePoint) -> list[int]:
    """Return the runs in which the issue failed; where it failed only in all together, its part."""
    failed = [one.run for one in point.runs if one.word == Word.FAILS]
    return failed or [one.run for one in point.runs if one.failed]


def _newest_first(seen: IssueResult) -> tuple[float, int]:
    return -seen.at.timestamp(), -seen.run
