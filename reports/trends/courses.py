"""Which runs make the lines of a trend, and where on its axis each of them stands. Pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple


class Brief(NamedTuple):
    """What the choice of lines needs to know of a run. `release` is "" where it has none."""

    run: int
    line: str
    variant: str
    release: str
    at: datetime


@dataclass(frozen=True)
class Stop:
    """One point of a line. `runs` is one run, or several that are taken together, newest first."""

    runs: tuple[Brief, ...]

    @property
    def newest(self) -> Brief:
        return self.runs[0]

    @property
    def at(self) -> datetime:
        return self.newest.at

    @property
    def release(self) -> str:
        return self.newest.release


@dataclass(frozen=True)
class Course:
    """One line, its stops in the order of the axis."""

    key: str
    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Courses:
    """The lines of a trend, the one that was run last first, and what they leave out.

    Attributes:
        releases: Where the axis is one of releases: their order; else empty.
        left_out: Lines that there was no room for, in the same order.
        earlier: How many points there was no room for, on the lines that are shown.
        unreleased: Runs without a release, where the axis is one of releases.
        repeated: Runs of a release that a later one of the same variant replaces.
    """

    shown: tuple[Course, ...]
    releases: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    earlier: int = 0
    unreleased: int = 0
    repeated: int = 0

    @property
    def runs(self) -> list[int]:
        """All that are shown."""
        return [run.run for course in self.shown for stop in course.stops for run in stop.runs]


def has_releases(runs: Iterable[Brief]) -> bool:
    """Whether there are two releases or more, so that they make an axis."""
    return len({run.release for run in runs} - {""}) > 1


def release_order(runs: Iterable[Brief]) -> tuple[str, ...]:
    """The releases in the order of their first runs."""
    first: dict[str, datetime] = {}
    for run in runs:
        if run.release:
            first[run.release] = min(run.at, first.get(run.release, run.at))
    return tuple(sorted(first, key=lambda release: (first[release], release)))


def by_release(runs: Sequence[Brief], *, most_lines: int, most_points: int) -> Courses:
    """One stop per line and release: the newest run of each variant in it."""
    released = [run for run in runs if run.release]
    order = release_order(released)
    places = {release: place for place, release in enumerate(order)}
    stops = {
        line: sorted(of, key=lambda stop: places[stop.release])
        for line, of in _stops(released, lambda run: run.release).items()
    }
    first = max(0, len(order) - most_points)
    return replace(
        _courses(stops, most_lines, lambda of: [s for s in of if places[s.release] >= first]),
        releases=order[first:],
        unreleased=len(runs) - len(released),
        repeated=len(released) - _count(stops),
    )


def by_time(runs: Sequence[Brief], *, most_lines: int, most_points: int) -> Courses:
    """One stop per run; where a line has several variants, the runs of one day together."""
    variants: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        variants[run.line].add(run.variant)
    stops = _stops(runs, lambda run: run.at.date() if len(variants[run.line]) > 1 else run.run)
    found = _courses(stops, most_lines, lambda of: of[-most_points:])
    return replace(found, repeated=len(runs) - _count(stops))


def _stops(runs: Iterable[Brief], place: Callable[[Brief], Hashable]) -> dict[str, list[Stop]]:
    """The stops of each line by time: the newest run of each variant at each place."""
    together: dict[tuple[str, Hashable], dict[str, Brief]] = defaultdict(dict)
    for run in sorted(runs, key=_time):
        together[run.line, place(run)][run.variant] = run
    lines: dict[str, list[Stop]] = defaultdict(list)
    for (line, _), newest in together.items():
        lines[line].append(Stop(tuple(sorted(newest.values(), key=_time, reverse=True))))
    return {line: sorted(stops, key=_stop_time) for line, stops in lines.items()}


def _courses(
    stops: Mapping[str, list[Stop]], most_lines: int, kept: Callable[[list[Stop]], list[Stop]]
) -> Courses:
    """The lines that were run last, with those of their stops that are kept."""
    order = sorted(stops, key=lambda line: max(map(_stop_time, stops[line])), reverse=True)
    courses = [Course(line, tuple(kept(stops[line]))) for line in order[:most_lines]]
    return Courses(
        shown=tuple(course for course in courses if course.stops),
        left_out=tuple(order[most_lines:]),
        earlier=sum(len(stops[course.key]) - len(course.stops) for course in courses),
    )


def _count(stops: Mapping[str, list[Stop]]) -> int:
    """How many runs they are made of."""
    return sum(len(stop.runs) for of in stops.values() for stop in of)


def _time(run: Brief) -> tuple[datetime, int]:
    return run.at, run.run


def _stop_time(stop: Stop) -> tuple[datetime, int]:
    return _time(stop.newest)
