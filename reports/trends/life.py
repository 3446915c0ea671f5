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


class Went(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "not known"


class Seen(NamedTuple):
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
    undecided: int = 0

    @property
    def went(self) -> Went:
        if self.failed:
            return Went.FAILED
        return Went.PASSED if self.passed and not self.undecided else Went.UNKNOWN


def _time(seen: Seen) -> tuple[datetime, int]:
    return seen.at, seen.run


# One model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turns:
    """Where one model's runs turned; None: there is no such run.

    Attributes:
        passed_before: The last that passed before the first that failed: what broke the issue
            lies between the two.
        passed_again: The first that passed after the first that failed.
        now: The newest of which something is known.
        streak: How many of the newest went as it did, in a row.
    """

    first_failed: Seen | None
    passed_before: Seen | None
    passed_again: Seen | None
    now: Seen | None
    streak: int


def turns_of(runs: Iterable[Seen]) -> Turns:
    """The turns of one model's runs, in whatever order these come."""
    known = [seen for seen in sorted(runs, key=_time) if seen.went != Went.UNKNOWN]
    if not known:
        return Turns(None, None, None, None, 0)
    ways = [seen.went for seen in known]
    broke = ways.index(Went.FAILED) if Went.FAILED in ways else None
    before = known[:broke] if broke is not None else []
    after = known[broke:] if broke is not None else []
    return Turns(
        first_failed=after[0] if after else None,
        passed_before=before[-1] if before else None,
        passed_again=next((seen for seen in after if seen.went == Went.PASSED), None),
        now=known[-1],
        streak=_streak(ways),
    )


def _streak(ways: Sequence[Went]) -> int:
    """How many of the last are like the very last."""
    return next((n for n, went in enumerate(reversed(ways)) if went != ways[-1]), len(ways))


def by_line(runs: Iterable[Seen]) -> dict[Hashable, list[Seen]]:
    """The runs of each model, oldest first."""
    lines: dict[Hashable, list[Seen]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        lines[seen.line].append(seen)
    return dict(lines)


# All models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """A release, or what was launched together without one: the newest run of each model in it."""

    name: str
    runs: tuple[Seen, ...]

    @property
    def went(self) -> Went:
        """It fails where any model does; a model of which nothing is known says nothing."""
        ways = {seen.went for seen in self.runs}
        if Went.FAILED in ways:
            return Went.FAILED
        return Went.PASSED if Went.PASSED in ways else Went.UNKNOWN


def stops_of(runs: Iterable[Seen]) -> list[Stop]:
    """The releases in the order of their first runs."""
    ordered = sorted(runs, key=_time)
    stops: dict[tuple[str, Hashable], dict[Hashable, Seen]] = defaultdict(dict)
    for seen in ordered:
        stops[seen.release, "" if seen.release else seen.together][seen.line] = seen
    return [Stop(release, tuple(newest.values())) for (release, _), newest in stops.items()]


def passed_in_a_row(runs: Iterable[Seen]) -> list[Stop]:
    """The newest releases that passed, one after the other, newest first.

    Where runs have releases, those without one do not count; but one that fails ends the row.
    """
    stops = stops_of(runs)
    has_releases = any(stop.name for stop in stops)
    row = []
    for stop in reversed(stops):
        if stop.went == Went.FAILED:
            break
        if stop.went == Went.PASSED and (stop.name or not has_releases):
            row.append(stop)
    return row


def failed_again(runs: Iterable[Seen], resolved_at: datetime) -> list[Seen]:
    """Runs that were launched after it was resolved, and show the fault again.

    A model that was known to fail when it was resolved shows nothing new by failing, until it has
    passed once.
    """
    found = []
    for mine in by_line(runs).values():
        known = [seen for seen in mine if seen.went != Went.UNKNOWN]
        before = [seen for seen in known if seen.at <= resolved_at]
        fails = bool(before) and before[-1].went == Went.FAILED
        for seen in known[len(before) :]:
            if seen.went == Went.FAILED and not fails:
                found.append(seen)
            fails = fails and seen.went == Went.FAILED
    return sorted(found, key=_time)
