"""Proposals to resolve or reopen an issue, drawn from its runs. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reports.issue_timeline.rule import (
    IssueResult,
    ReleasePoint,
    failures_after_resolution,
    passed_in_a_row,
)

Button = Literal["resolve", "reopen"]

MAX_NAMED = 5


@dataclass(frozen=True)
class Proposal:
    """A proposed change of an issue's state.

    Attributes:
        reason: In sentences; `brief` is the same in few words.
        runs: The runs it is drawn from, newest first.
    """

    issue: int
    act: Button
    reason: str
    brief: str
    runs: tuple[int, ...]


def resolving(issue: int, runs: Iterable[IssueResult], *, releases: int) -> Proposal | None:
    """Propose to resolve an issue that passed enough releases in a row with every model.

    Args:
        runs: With variants of models as lines.
        releases: Number of releases that is enough.
    """
    row = passed_in_a_row(runs)
    if len(row) < max(1, releases):
        return None
    seen = sorted((one for point in row for one in point.runs), key=_newest_first)
    return Proposal(
        issue,
        "resolve",
        f"{_row_words(row)} All {sum(one.passed for one in seen):,} answers in {len(seen)} "
        f"{'run' if len(seen) == 1 else 'runs'} passed.",
        f"passed {len(row)} {_things(row)} in a row",
        tuple(one.run for one in seen),
    )


def reopening(
    issue: int, runs: Iterable[IssueResult], resolved_at: datetime, names: Mapping[int, str]
) -> Proposal | None:
    """Propose to reopen an issue that failed again after its resolution.

    Args:
        runs: With models as lines.
        names: By run.
    """
    found = sorted(failures_after_resolution(runs, resolved_at), key=_newest_first)
    if not found:
        return None
    first = found[-1]
    told = f"{first.failed:,} of {first.failed + first.passed:,}"
    more = "" if len(found) == 1 else f" It also failed in {len(found) - 1} later runs."
    return Proposal(
        issue,
        "reopen",
        f"Failed again after its resolution: {told} answers in {names[first.run]}.{more}",
        f"failed again in run {first.run} ({told})",
        tuple(one.run for one in found),
    )


def _newest_first(seen: IssueResult) -> tuple[float, int]:
    return -seen.at.timestamp(), -seen.run


def _things(row: Sequence[ReleasePoint]) -> str:
    many = len(row) > 1
    return (
        ("releases" if many else "release") if row[0].name else ("launches" if many else "launch")
    )


def _row_words(row: Sequence[ReleasePoint]) -> str:
    if not row[0].name:
        return f"Passed {len(row)} {_things(row)} in a row."
    names = [point.name for point in reversed(row[:MAX_NAMED])]
    last = ", most recently " if len(row) > MAX_NAMED else ": "
    return f"Passed {len(row)} {_things(row)} in a row{last}{_listed(names)}."


def _listed(names: Sequence[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last
