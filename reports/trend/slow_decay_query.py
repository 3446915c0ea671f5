"""Whether a line slides over all releases shown, each step too little to be noticed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalhub.display.formatting import counted, percent
from evalhub.statistics.changes.slow_decay import LEVEL_OF_LOOKS, Slope, SlowChange, slow_change
from reports.compare.attempts_query import Runs
from reports.compare.evidence_rule import outcome_of
from reports.documents.document import Column, Table
from reports.documents.reading import Reading
from reports.trend.filters import TrendQuery
from reports.trend.query import Line, TrendReport
from reports.trend.rates_query import Point
from runs.comparison.comparability_rule import comparability
from runs.comparison.outcomes_by_test import outcomes_in
from runs.comparison.tested_rule import pooled

SAID = {Slope.FELL: "fell", Slope.ROSE: "rose", Slope.CANNOT_TELL: "cannot tell"}


@dataclass(frozen=True)
class SlowLine:
    """A line with the points that are comparable with its newest, and what they show together."""

    line: Line
    points: tuple[Point, ...]
    change: SlowChange

    @property
    def best(self) -> Point:
        """The point with the highest rate, the newest of equals: shown, and never tested."""
        return max(reversed(self.points), key=lambda point: point.rate.share or 0.0)


def slow_lines(report: TrendReport, query: TrendQuery, reading: Reading) -> tuple[SlowLine, ...]:
    """Test each line over the releases shown; none while they are computed.

    Lines of several variants, and rates of a part of the tests, are not tested.
    """
    if not report.is_by_release or query.has_subject or query.tests:
        return ()
    lines = [(line, _comparable(report, line)) for line in report.lines]
    lines = [(line, points) for line, points in lines if len(points) > 2]
    inputs = [[_runs(report, point) for point in points] for _, points in lines]
    if not inputs:
        return ()
    runs = {run for sides in inputs for side in sides for run in side}
    found = reading.computed(
        "trend-slow-changes",
        inputs,
        list[SlowChange | None],
        lambda: _slow_changes(inputs, runs),
        of=runs,
    )
    return tuple(
        SlowLine(line, points, change)
        for (line, points), change in zip(lines, found or (), strict=False)
        if change is not None
    )


def _comparable(report: TrendReport, line: Line) -> tuple[Point, ...]:
    """Return the points of one variant that are comparable with the newest."""
    newest = report.scorings[line.points[-1].run.pk]
    return tuple(
        point
        for point in line.points
        if len({run.variant for run in point.series_point.runs}) == 1
        and comparability(report.scorings[point.run.pk], newest)
    )


def _runs(report: TrendReport, point: Point) -> Runs:
    """Return the attempts of a point, without those that are scored otherwise."""
    newest = report.scorings[point.run.pk]
    runs = (one.run for one in point.series_point.runs)
    return tuple(run for run in runs if comparability(report.scorings[run], newest))


def _slow_changes(
    lines: Sequence[Sequence[Runs]], runs: Collection[int]
) -> list[SlowChange | None]:
    tests = outcomes_in(runs)
    found = []
    for line in lines:
        points = [
            {tested.revision_id: tested for tested in pooled([tests[run] for run in side])}
            for side in line
        ]
        issues: Mapping[int, int] = {
            revision: tested.issue_id for point in points for revision, tested in point.items()
        }
        outcomes = [
            [outcome_of(one) if (one := point.get(revision)) else None for point in points]
            for revision in issues
        ]
        found.append(slow_change(outcomes, list(issues.values())))
    return found


def slow_sentences(lines: Sequence[SlowLine]) -> Iterator[str]:
    """Yield the lines that surely slide or rise, with the best release beside the last."""
    for one in lines:
        if one.change.slope == Slope.CANNOT_TELL:
            continue
        first, last = one.points[0], one.points[-1]
        tests, releases = counted(one.change.tests, "test"), counted(len(one.points), "release")
        best = one.best
        yield (
            f"{one.line.name}: judges’ pass rate {SAID[one.change.slope]} over {releases}, from "
            f"{_rate(first)} in {first.series_point.release} to {_rate(last)} in "
            f"{last.series_point.release}, on {tests}; best: {_rate(best)} in "
            f"{best.series_point.release}."
        )


def _rate(point: Point) -> str:
    return percent(point.rate.share) if point.rate.share is not None else "no rate"


def slow_table(lines: Sequence[SlowLine]) -> Iterator[Table]:
    """Yield the table of lines over all releases; nothing without any."""
    if lines:
        yield Table(
            key="slow",
            title="Over all releases shown",
            columns=(
                Column("line", "Line"),
                Column("releases", "Releases", "count"),
                Column("tests", "Tests", "count", "Scored in two releases or more"),
                Column("first", "First", "rate"),
                Column("best", "Best", "rate", "Shown, not tested"),
                Column("last", "Last", "rate"),
                Column("slope", "Trend"),
                Column("p", "p", "p", f"At most {LEVEL_OF_LOOKS:g} is sure"),
            ),
            rows=[
                (
                    *(one.line.name, len(one.points), one.change.tests),
                    *(one.points[0].rate, one.best.rate, one.points[-1].rate),
                    *(SAID[one.change.slope], one.change.p),
                )
                for one in lines
            ],
            note="Outcomes of each test by the order of releases, signs flipped by test and by "
            "issue. A slide shows here whose single steps are too small to be noticed.",
        )
