"""Pass rates over runs: a line for each model variant, and changes of tests and judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from reports.compare.attempts_query import Runs
from reports.documents.model_lines import LineStyle
from reports.documents.reading import Reading
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.measurement_changes import Change, changes_of
from reports.queries.names import identities
from reports.queries.run_variants import judge_runs_of, labels_of_all, named_lines, runs_of
from reports.queries.scope import Scope, scope_of
from reports.trend.filters import RELEASE, TIME, TrendQuery
from reports.trend.rates_query import Counted, Point, RateKey
from reports.trend.series_rule import (
    NO_RELEASES,
    RunKey,
    SeriesLines,
    SeriesPoint,
    by_release,
    by_time,
    has_releases,
)
from reports.trend.shared_tests_query import SharedTests, shared_tests
from runs.comparison.comparability import scoring_of
from runs.comparison.comparability_rule import Comparable, Scoring, comparability
from runs.comparison.release_order_rule import ReleaseOrder
from runs.figures.rate import Rate
from runs.figures.tallies import Group, Rates
from runs.models import Release, Run

MAX_LINES, MAX_CHANGES, MAX_NAMED = 6, 20, 30


@dataclass(frozen=True)
class Line:
    """A line; its last point is compared with the one `before`: None, it has no predecessor."""

    name: str
    look: LineStyle
    points: tuple[Point, ...]
    before: Point | None

    @property
    def compared(self) -> list[Point]:
        """The last point after the one before; [] without one."""
        return [self.before, self.points[-1]] if self.before else []


@dataclass(frozen=True)
class TrendReport:
    """The lines of the page, and what is left out.

    Attributes:
        changes: Oldest first; `changes_left_out` counts older ones.
        rates: By point, over all and by tag.
        tags: Lowest pass rate first; `tags_left_out` counts those with fewer results.
        lines_left_out: Names of lines not shown, at most MAX_NAMED.
        incomplete: Runs on no line, since too little of them is scored.
        unfinished: Number of runs that have not ended, or were stopped.
        measured_apart: The newest runs of the lines are not comparable, or share no test.
        shared: The tests that are drawn, where runs differ in tests; None: all.
        others: By newest point of a line, what it has beside these.
        scorings: How each run shown is scored.
        unpooled: Number of runs in no rate, as they are not comparable with the newest of a point.
    """

    scope: Scope
    series: SeriesLines
    lines: tuple[Line, ...]
    changes: tuple[Change, ...]
    changes_left_out: int
    rates: Rates[RateKey]
    tags: tuple[str, ...]
    tags_left_out: int
    lines_left_out: tuple[str, ...]
    incomplete: tuple[IncompleteRun, ...]
    unfinished: int
    measured_apart: bool
    shared: SharedTests | None
    others: Mapping[RateKey, Group]
    scorings: Mapping[int, Scoring]
    unpooled: int
    labels: tuple[str, ...]

    @property
    def is_by_release(self) -> bool:
        return bool(self.series.releases)

    @property
    def has_steps(self) -> bool:
        """Return whether some line has more than one point, so that there is something to draw."""
        return any(len(line.points) > 1 for line in self.lines)

    def comparable(self, line: Line) -> Comparable:
        """Tell whether the newest run of a line may be compared with the one before."""
        before, last = (self.scorings[point.run.pk] for point in line.compared)
        return comparability(before, last)

    def is_last_comparable(self, line: Line) -> bool:
        """Tell whether the last run of a line and the one before have comparable scores."""
        return line.before is not None and bool(self.comparable(line))

    def last_sides(self, line: Line) -> tuple[Runs, Runs]:
        """Return the pooled runs of the last two points of a line."""
        before, last = (
            tuple(run.run for run in _comparable(point.series_point, self.scorings).runs)
            for point in line.compared
        )
        return before, last

    def tag_rate(self, point: Point, tag: str) -> Rate | None:
        """Return the rate; None where no result of the point has the tag."""
        return self.rates.get(RateKey(tag, *point.place[1:]))


def trend_report(query: TrendQuery, reading: Reading) -> TrendReport:
    """Read the whole report; a constant number of queries."""
    scope = scope_of(query.suite)
    found = _run_keys(scope, query)
    series, order = _series(found, query)
    newest = _newest(found, series)
    runs = runs_of({*series.runs, *newest.values()})
    judge_runs = judge_runs_of(series.runs)
    scorings = {run: scoring_of(runs[run], judge_runs.get(run)) for run in series.runs}
    pooled = _pooled(series, scorings)
    shared = shared_tests(runs[run] for run in pooled.runs)
    counted = Counted.read(query, pooled, runs, shared)
    names, looks = named_lines(
        {line: runs[run] for line, run in newest.items()}, by_family=query.by_family
    )
    lines = tuple(
        _line(names[one.key], looks[one.key], counted.points(one, runs), order)
        for one in series.shown
    )
    every = scope.all_runs.of_models(query.models)
    incomplete = incomplete_runs(every)
    changes = changes_of(
        {line.name: [point.run for point in line.points] for line in lines}, judge_runs, reading
    )
    return TrendReport(
        scope=scope,
        series=series,
        lines=lines,
        changes=tuple(changes[-MAX_CHANGES:]),
        changes_left_out=max(0, len(changes) - MAX_CHANGES),
        rates=counted.rates,
        tags=counted.tags,
        tags_left_out=counted.tags_left_out,
        lines_left_out=tuple(names[line] for line in series.left_out[:MAX_NAMED]),
        incomplete=incomplete,
        unfinished=every.count() - len(found) - len(incomplete),
        measured_apart=_are_apart([line.points[-1].run for line in lines], scorings, shared),
        shared=shared,
        others=counted.others,
        scorings=scorings,
        unpooled=len(series.runs) - len(pooled.runs),
        labels=labels_of_all((runs[run] for run in series.runs), judge_runs),
    )


def _series(found: Sequence[RunKey], query: TrendQuery) -> tuple[SeriesLines, ReleaseOrder]:
    """Return the lines over releases or time, and the order of the releases on them."""
    over = query.over or (RELEASE if has_releases(found) else TIME)
    limits = {"max_lines": MAX_LINES, "max_points": query.points}
    if over == TIME:
        return by_time(found, **limits), NO_RELEASES
    order = Release.objects.in_order()
    return by_release(found, **limits, releases=order), order


def _line(name: str, look: LineStyle, points: tuple[Point, ...], order: ReleaseOrder) -> Line:
    """Return the line; what came after its last release, such as a hotfix, is not before it."""
    *earlier, last = points
    releases = {point.series_point.release: point for point in earlier}
    names = order.predecessors(last.series_point.release)
    found = next((releases[one] for one in names if one in releases), None)
    return Line(name, look, points, found or (earlier[-1] if earlier else None))


def _pooled(series: SeriesLines, scorings: Mapping[int, Scoring]) -> SeriesLines:
    """Leave out the runs that are not comparable with the newest of their point."""
    shown = (
        replace(
            line, series_points=tuple(_comparable(point, scorings) for point in line.series_points)
        )
        for line in series.shown
    )
    return replace(series, shown=tuple(shown))


def _comparable(point: SeriesPoint, scorings: Mapping[int, Scoring]) -> SeriesPoint:
    newest, *others = point.runs
    scoring = scorings[newest.run]
    runs = (run for run in others if comparability(scoring, scorings[run.run]))
    return SeriesPoint((newest, *runs))


def _are_apart(
    runs: Sequence[Run], scorings: Mapping[int, Scoring], shared: SharedTests | None
) -> bool:
    return any(
        (shared is None and run.suite_fingerprint != runs[0].suite_fingerprint)
        or not comparability(scorings[runs[0].pk], scorings[run.pk])
        for run in runs[1:]
    )


# Which runs --------------------------------------------------------------------------------------


def _run_keys(scope: Scope, query: TrendQuery) -> list[RunKey]:
    """Return every conclusive run of the scope."""
    rows = scope.runs.order_by().of_models(query.models)
    families = {pk: one.family for pk, one in identities().items()} if query.by_family else {}
    columns = ("pk", "variant_key", "language_model_id", "release", "created_at")
    zone = timezone.get_current_timezone()  # asked for once: a site has thousands of runs
    return [
        RunKey(
            run,
            families[model] if query.by_family else variant,
            variant,
            release,
            at.astimezone(zone),
        )
        for run, variant, model, release, at in rows.values_list(*columns)
    ]


def _newest(found: Sequence[RunKey], series: SeriesLines) -> dict[str, int]:
    """Return the newest run of each line that is shown or named as left out."""
    lines = {*(series_line.key for series_line in series.shown), *series.left_out[:MAX_NAMED]}
    ordered = sorted(found, key=lambda run: (run.at, run.run))
    return {run.line: run.run for run in ordered if run.line in lines}
