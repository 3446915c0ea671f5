"""The tables of the trend page, and their figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from evalhub.display.formatting import few
from evalhub.models import User
from reports.compare.conclusion_words import said
from reports.documents.document import Cell, Column, LazyRows, Link, Linked, Table, folded
from reports.documents.links import page_url, results_url, run_url
from reports.documents.rejudging import refusal
from reports.queries.measurement_changes import Change
from reports.trend.figure import Dot, DrawnLine, Mark, Place, small_multiples, trend_lines
from reports.trend.last_changes_query import LastChange, TagChange
from reports.trend.query import Line, TrendReport
from reports.trend.rates_query import MAX_COLUMNS, Point
from runs.models import Outcome, Run

MAX_PANELS, MAX_LINES_NAMED, SHOWN_TAGS = 8, 3, 10
FALLS = 5
"""Changes of tags that a page shows, sure or not."""

NO_CHANGES: Mapping[str, LastChange] = {}

Numbers = Mapping[Change, int]
"""The number of each change shown."""

# The lines ---------------------------------------------------------------------------------------


def points_table(report: TrendReport, numbers: Numbers, changes: Mapping[str, LastChange]) -> Table:
    return Table(
        key="points",
        title="Pass rate of each line",
        columns=(
            Column("run", "Run", "link"),
            Column("line", "Line"),
            Column("release", "Release"),
            Column("date", "Date", "date"),
            Column("rate", "Pass rate", "rate"),
            Column("excluded", "Excluded", note="Results that are in no rate"),
            Column("changes", "Changes", note="Numbers of the other changes below"),
        ),
        rows=[
            (
                _run_link(point.run, more=len(point.series_point.runs) - 1),
                line.name,
                point.series_point.release or None,
                point.series_point.at,
                point.rate,
                _excluded(point),
                ", ".join(str(numbers[change]) for change in _before(point, line, numbers)),
            )
            for line, point in _newest_first(report)
        ],
        note="Bands and ranges are 95% intervals; of several lines, point at one to see its band. "
        "▼ and ▲: judges rate the latest point worse or better than the previous one. A gap: no "
        "complete run. A numbered dotted line marks a change of tests or judges: a step there may "
        "not come from the model.",
        empty="No complete run of this suite yet. Launch it, or choose another suite.",
        draw=lambda: (
            trend_lines(_drawn(report, changes), _marks(report, numbers), report.series.releases)
            if report.has_steps
            else None
        ),
        look="folded" if report.has_steps else "",
        describes="A line of pass rates for each model",
    )


def _newest_first(report: TrendReport) -> list[tuple[Line, Point]]:
    found = [(line, point) for line in report.lines for point in line.points]
    return sorted(found, key=lambda pair: (pair[1].series_point.at, pair[1].run.pk), reverse=True)


def _before(point: Point, line: Line, changes: Numbers) -> list[Change]:
    """Return the changes on this line just before the point."""
    place = point.place.position
    before = line.points[place - 1] if place else None
    return _at_step(changes, line, (before.run.pk, point.run.pk) if before else ())


def _run_link(run: Run, *, more: int = 0) -> Link:
    note = f"and {more} more" if more else ""
    return Link(f"{run.label}", run_url(run), note)


def _excluded(point: Point) -> str:
    counts = [
        f"{n:,} {'errors' if outcome == Outcome.ERROR and n != 1 else outcome}"
        for outcome, n in sorted(point.others.items())
        if n
    ]
    return ", ".join(counts) or "none"


def _place(report: TrendReport, release: str, at: Any) -> Place:
    if report.is_by_release:
        return report.series.releases.index(release)
    return f"{timezone.localtime(at):%Y-%m-%dT%H:%M:%S}"


def _drawn(
    report: TrendReport, changes: Mapping[str, LastChange] = NO_CHANGES, tag: str = ""
) -> list[DrawnLine]:
    lines = []
    for line in report.lines:
        dots = _dots(report, line, tag)
        if dots and (found := changes.get(line.name)):
            text = f"{dots[-1].text}; since the previous: {said(found.conclusion)}"
            dots[-1] = replace(dots[-1], flag=found.conclusion.word, text=text)
        lines.append(DrawnLine(line.name, line.look, dots))
    return [line for line in lines if line.dots]


def _dots(report: TrendReport, line: Line, tag: str) -> list[Dot]:
    rates = [(point, report.tag_rate(point, tag) if tag else point.rate) for point in line.points]
    return [
        Dot(
            place=_place(report, point.series_point.release, point.series_point.at),
            share=rate.share,
            interval=rate.interval,
            text=f"{rate.passed:,} of {rate.n:,}",
            run=point.run.pk,
        )
        for point, rate in rates
        if rate is not None
    ]


# Other changes ------------------------------------------------------------------------------------


def _marks(report: TrendReport, numbers: Numbers) -> list[Mark]:
    return [
        Mark(
            _place(report, change.after.release, change.after.created_at),
            number,
            " ".join(change.words),
        )
        for change, number in numbers.items()
    ]


def changes_table(report: TrendReport, numbers: Numbers) -> Table:
    return Table(
        key="changes",
        title="Other changes",
        columns=(
            Column("number", "No."),
            Column("from", "From", "link", "Last run before the change"),
            Column("to", "To", "link", "First run after the change"),
            Column("date", "Date", "date"),
            Column("kind", "Changed"),
            Column("words", "Details"),
            Column("lines", "Lines"),
        ),
        rows=[
            (
                number,
                _run_link(change.before),
                _run_link(change.after),
                change.after.created_at,
                ", ".join(change.kinds),
                " ".join(change.words),
                few(change.lines, most=MAX_LINES_NAMED),
            )
            for change, number in numbers.items()
        ],
        empty="None: all runs of a line had the same tests, judges and judge templates.",
    )


def latest_table(report: TrendReport, changes: Mapping[str, LastChange], reader: User) -> Table:
    return Table(
        key="latest",
        title="Latest run against the previous one",
        columns=(
            Column("line", "Line"),
            Column("last", "Latest run", "link"),
            Column("rate", "Pass rate", "rate"),
            Column("before", "Previous", "rate"),
            Column("change", "Change", "points", "On the tests that both runs have scored"),
            Column("tests", "Tests", "count", "Tests compared"),
            Column("conclusion", "Conclusion"),
            Column("p", "p", "p", "A dash: not tested"),
            Column("measured", "Comparable?", note="Same tests and judges in both runs"),
            Column("compare", "Details", "link"),
        ),
        rows=[_last(report, line, changes.get(line.name), reader) for line in report.lines],
        note="Judges’ outcomes, without overrides. A line that pools runs is not tested.",
    )


def _last(
    report: TrendReport, line: Line, found: LastChange | None, reader: User
) -> tuple[Cell, ...]:
    last, before = line.points[-1], line.before
    return (
        line.name,
        _run_link(last.run, more=len(last.series_point.runs) - 1),
        last.rate,
        before.rate if before else None,
        *(
            (
                *(found.change.net, found.change.tally.n),
                *(said(found.conclusion), found.conclusion.p),
            )
            if found
            else (None, None, None, None)
        ),
        _measured(report, line, reader) if before else None,
        Link("Compare", page_url("compare", runs=[before.run, last.run])) if before else None,
    )


def _measured(report: TrendReport, line: Line, reader: User) -> Cell:
    """Return whether the last two runs of a line are comparable, or the reason why not."""
    before, last = (point.run for point in line.compared)
    if not (comparable := report.comparable(line)):
        return refusal(last, before, comparable, reader)
    return "yes" if before.suite_fingerprint == last.suite_fingerprint else "on the shared tests"


# By tag --------------------------------------------------------------------------------------


def heat_table(report: TrendReport) -> Table:
    shown, total = _newest_first(report)[:MAX_COLUMNS], sum(len(one.points) for one in report.lines)
    order = "Newest first."
    if len(shown) < total:
        order = f"Showing the {len(shown)} newest of {total} runs; choose models to see more."
    n = report.tags_left_out
    fewer = f" {n} tags with fewer results are not shown: choose a tag above." if n else ""
    return Table(
        key="tags",
        title="Pass rate by tag",
        columns=(
            Column("tag", "Tag", "link"),
            *(
                Column(f"run_{point.run.pk}", f"{line.name}, {_release_or_day(point)}", "rate")
                for line, point in shown
            ),
        ),
        rows=[
            (
                Link(tag, page_url("trend", suite=report.scope.suite, tag=tag)),
                *(_tag_cell(report, point, tag) for _, point in shown),
            )
            for tag in report.tags
        ],
        note=f"{order} Lowest pass rate first; the order is not tested. Click a cell to open its "
        f"results. A test counts for each of its tags.{fewer} Check “One chart per tag” to see all "
        "runs of each tag.",
        empty="The tests of these runs have no tags.",
        look="heat",
        **folded(len(report.tags), SHOWN_TAGS, "tag"),
    )


def _release_or_day(point: Point) -> str:
    return point.series_point.release or f"{point.series_point.at:%Y-%m-%d}"


def _tag_cell(report: TrendReport, point: Point, tag: str) -> Cell:
    rate = report.tag_rate(point, tag)
    if rate is None or len(point.series_point.runs) > 1:
        return rate
    return Linked(rate, results_url(point.run, tag=tag))


def tag_changes_table(report: TrendReport, changes: Sequence[TagChange]) -> Table:
    """List the tags with changed tests, the largest fall first; none that is sure is folded."""
    shown = max([FALLS, *(place for place, one in enumerate(changes, 1) if one.is_sure)])
    return Table(
        key="tag_changes",
        title="Tags: latest run against the previous one",
        columns=(
            Column("tag", "Tag", "link"),
            Column("line", "Line"),
            Column("change", "Change", "points", "On the tests that both runs have scored"),
            Column("tests", "Tests", "count", "Tests compared"),
            Column("worse", "Worse", "count"),
            Column("better", "Better", "count"),
            Column("p_adjusted", "p, adjusted", "p", "Sign flips, among the tags of its line"),
            Column("compare", "Details", "link"),
        ),
        rows=LazyRows(changes, lambda some: [_tag_change(report, one) for one in some]),
        note="Largest fall first. A test counts for each of its tags.",
        **folded(len(changes), shown, "change", said="more, which may be chance"),
        empty="No tag has a test that changed between comparable runs of the same tests.",
    )


def _tag_change(report: TrendReport, one: TagChange) -> tuple[Cell, ...]:
    tally, runs = one.change.tally, [point.run for point in one.line.compared]
    return (
        Link(one.tag, page_url("trend", suite=report.scope.suite, tag=one.tag)),
        one.line.name,
        one.change.net,
        tally.n,
        tally.worse,
        tally.better,
        one.change.p,
        Link("Compare", page_url("compare", runs=runs, tag=one.tag)),
    )


def panels_table(report: TrendReport, numbers: Numbers, changes: Sequence[TagChange]) -> Table:
    """Draw the tags that fell most, then those with the lowest pass rates."""
    fallen = [one.tag for one in changes if (one.change.net or 0) < 0 and one.tag in report.tags]
    tags = list(dict.fromkeys([*fallen, *report.tags]))[:MAX_PANELS]
    panels = [(tag, _drawn(report, tag=tag)) for tag in tags]
    return Table(
        key="tag_lines",
        title="Charts by tag",
        columns=(
            Column("tag", "Tag"),
            Column("line", "Line"),
            Column("point", "Release" if report.is_by_release else "Date"),
            Column("rate", "Pass rate", "rate"),
        ),
        rows=LazyRows(
            [
                (tag, line, point)
                for tag in tags
                for line in report.lines
                for point in reversed(line.points)
                if report.tag_rate(point, tag) is not None
            ],
            lambda some: [
                (tag, line.name, _release_or_day(point), report.tag_rate(point, tag))
                for tag, line, point in some
            ],
        ),
        note=""
        if len(tags) == len(report.tags)
        else f"Showing {len(tags)} tags: those that fell most since the previous run, then those "
        "with the lowest pass rates. The table of tags says which changes are sure.",
        empty="The tests of these runs have no tags.",
        draw=lambda: (
            small_multiples(panels, _marks(report, numbers), report.series.releases)
            if panels
            else None
        ),
        look="long",
        describes="A chart for each tag, with a line for each model",
    )


def _at_step(changes: Iterable[Change], line: Line, step: Sequence[int]) -> list[Change]:
    return [one for one in changes if line.name in one.lines and tuple(step) in one.steps]
