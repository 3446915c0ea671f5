"""The lines of a trend and the points on its axis. Pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from runs.comparison.release_order_rule import ReleaseOrder

NO_RELEASES = ReleaseOrder()


class RunKey(NamedTuple):
    """A run as the choice of lines needs it; `release` is "" without one."""

    run: int
    line: str
    variant: str
    release: str
    at: datetime


@dataclass(frozen=True)
class SeriesPoint:
    """A point of a line: one run, or several taken together, newest first."""

    runs: tuple[RunKey, ...]

    @property
    def newest(self) -> RunKey:
        return self.runs[0]

    @property
    def at(self) -> datetime:
        return self.newest.at

    @property
    def release(self) -> str:
        return self.newest.release


@dataclass(frozen=True)
class SeriesLine:
    """A line with its points in the order of the axis."""

    key: str
    series_points: tuple[SeriesPoint, ...]


@dataclass(frozen=True)
class SeriesLines:
    """The lines of a trend, the latest run first, and what is left out.

    Attributes:
        releases: The axis, if it is one of releases; else empty.
        left_out: Keys of further lines, in the same order.
        earlier: Number of earlier points on the lines shown.
        unreleased: Number of runs without a release, if the axis is one of releases.
    """

    shown: tuple[SeriesLine, ...]
    releases: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    earlier: int = 0
    unreleased: int = 0

    @property
    def runs(self) -> list[int]:
        """All runs shown."""
        return [
            run.run
            for series_line in self.shown
            for series_point in series_line.series_points
            for run in series_point.runs
        ]


def has_releases(runs: Iterable[RunKey]) -> bool:
    """Return whether there are at least two releases, enough for an axis."""
    return len({run.release for run in runs} - {""}) > 1


def by_release(
    runs: Sequence[RunKey],
    *,
    max_lines: int,
    max_points: int,
    releases: ReleaseOrder = NO_RELEASES,
) -> SeriesLines:
    """Make a point per line and release.

    Args:
        releases: Their order.
    """
    released = [run for run in runs if run.release]
    order = tuple(releases.ordered(run.release for run in released))
    places = {release: place for place, release in enumerate(order)}
    series_points = {
        line: sorted(of, key=lambda series_point: places[series_point.release])
        for line, of in _series_points(released, lambda run: run.release).items()
    }
    first = max(0, len(order) - max_points)
    return replace(
        _series_lines(
            series_points, max_lines, lambda of: [s for s in of if places[s.release] >= first]
        ),
        releases=order[first:],
        unreleased=len(runs) - len(released),
    )


def by_time(runs: Sequence[RunKey], *, max_lines: int, max_points: int) -> SeriesLines:
    """Make a point per line and release, whose runs are attempts at the same.

    A run without a release is a point of its own; on lines of several variants, a day is.
    """
    variants: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        variants[run.line].add(run.variant)

    def place(run: RunKey) -> Hashable:
        return run.release or (run.at.date() if len(variants[run.line]) > 1 else run.run)

    series_points = _series_points(runs, place)
    return _series_lines(series_points, max_lines, lambda of: of[-max_points:])


def _series_points(
    runs: Iterable[RunKey], place: Callable[[RunKey], Hashable]
) -> dict[str, list[SeriesPoint]]:
    """Return the points of each line by time; the line that ran last comes first."""
    together: dict[tuple[str, Hashable], list[RunKey]] = defaultdict(list)
    for run in sorted(runs, key=attrgetter("at", "run"), reverse=True):
        together[run.line, place(run)].append(run)
    lines: dict[str, list[SeriesPoint]] = defaultdict(list)
    for (line, _), of in together.items():
        lines[line].append(SeriesPoint(tuple(of)))
    return {line: of[::-1] for line, of in lines.items()}


def _series_lines(
    series_points: Mapping[str, list[SeriesPoint]],
    max_lines: int,
    kept: Callable[[list[SeriesPoint]], list[SeriesPoint]],
) -> SeriesLines:
    """Return the first lines, with the points that are kept."""
    order = list(series_points)
    lines = [SeriesLine(line, tuple(kept(series_points[line]))) for line in order[:max_lines]]
    return SeriesLines(
        shown=tuple(series_line for series_line in lines if series_line.series_points),
        left_out=tuple(order[max_lines:]),
        earlier=sum(
            len(series_points[series_line.key]) - len(series_line.series_points)
            for series_line in lines
        ),
    )
