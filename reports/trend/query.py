"""Pass rates over runs: a line for each model variant, and changes of tests and judges."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from evalhub.models import LanguageModel
from evalhub.values.id_in import IdIn
from issues.models import Issue, Tag
from reports.compare.attempts_query import Runs
from reports.documents.model_lines import LineStyle
from reports.documents.reading import Reading
from reports.queries.exposure import less, only, tallies_of_tests
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.measurement_changes import Change, changes_of
from reports.queries.names import all_tag_names, identities
from reports.queries.run_variants import judge_runs_of, labels_of_all, named_lines, runs_of
from reports.queries.scope import Choice, Scope, scope_of
from reports.trend.series_rule import (
    NO_RELEASES,
    RunKey,
    SeriesLine,
    SeriesLines,
    SeriesPoint,
    by_release,
    by_time,
    has_releases,
)
from reports.trend.shared_tests_query import SharedTests, shared_tests
from runs.comparison.comparability import scoring_of
from runs.comparison.comparability_rule import Comparable, Scoring, comparability
from runs.comparison.release_rule import ReleaseOrder
from runs.figures.rate import Rate
from runs.figures.tallies import Group, Rates, Tally, groups_of, tallies_over
from runs.models import Release, Result, Run

MAX_LINES, MAX_TAGS, MAX_CHANGES, MAX_NAMED = 6, 24, 20, 30

MAX_COLUMNS = 10
"""Points with rates by tag, unless all are asked for."""

RELEASE, TIME = "release", "time"


@dataclass(frozen=True)
class TrendQuery:
    """The filters of the page.

    Attributes:
        over: RELEASE, TIME, or "": by release where there are any.
        each_tag: All points have rates by tag, not only the newest.
        tests: One of `exposure.CHOICES`.
    """

    suite: Choice
    over: str
    tag: Tag | None
    issue: Issue | None
    models: Sequence[LanguageModel]
    by_family: bool
    points: int
    each_tag: bool
    tests: str = ""

    @property
    def has_subject(self) -> bool:
        """Return whether the rates are of a part of the tests."""
        return self.tag is not None or self.issue is not None


class RateKey(NamedTuple):
    """A point of a line, for a tag or for all ("")."""

    tag: str
    line: str
    position: int


@dataclass(frozen=True)
class Point:
    """A point of a line with its newest run; `others` are excluded results by outcome."""

    place: RateKey
    series_point: SeriesPoint
    run: Run
    rate: Rate
    others: Mapping[str, int]


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
    over = query.over or (RELEASE if has_releases(found) else TIME)
    limits = {"max_lines": MAX_LINES, "max_points": query.points}
    order = Release.objects.in_order() if over == RELEASE else NO_RELEASES
    if over == RELEASE:
        series = by_release(found, **limits, releases=order)
    else:
        series = by_time(found, **limits)
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


# Their rates -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counted:
    """The rates of all points, and of the largest tags at the points that show them.

    `others` are results of the newest points on tests that are not drawn.
    """

    groups: Mapping[RateKey, Group]
    others: Mapping[RateKey, Group]
    rates: Rates[RateKey]
    tags: tuple[str, ...]
    tags_left_out: int

    @classmethod
    def read(
        cls,
        query: TrendQuery,
        series: SeriesLines,
        runs: Mapping[int, Run],
        shared: SharedTests | None,
    ) -> "Counted":
        """Read tag sets and results."""
        series_points = {
            run.run: RateKey("", series_line.key, place)
            for series_line in series.shown
            for place, series_point in enumerate(series_line.series_points)
            for run in series_point.runs
        }
        answers = _answers(series, runs)
        tags_of = {pk: frozenset(names) for pk, names in all_tag_names().items()}
        which = Q(issue=query.issue) if query.issue else Q()
        if query.tag:
            which &= Q(tag_set__in=[pk for pk, names in tags_of.items() if query.tag.name in names])
        tallies = tallies_of_tests(list(series_points), query.tests, which)
        others: dict[RateKey, Group] = {}
        if shared:
            of_others = Q(run__in=list(series_points)) & IdIn("revision_id", shared.others)
            rows = only(Result.objects.filter(of_others, which), query.tests)
            found = tallies_over(rows, of_judges=True)
            tallies = less(tallies, found)
            newest = {RateKey("", line.key, len(line.series_points) - 1) for line in series.shown}
            others = groups_of(found, lambda tally: newest & {series_points[tally.run_id]})
        tagged_runs = set(_tagged(query, series))
        tagged = [tally for tally in tallies if tally.run_id in tagged_runs]
        shown, left_out = _largest(tagged, tags_of)
        groups = groups_of(tallies, lambda tally: [series_points[tally.run_id]])
        groups |= groups_of(
            tagged,
            lambda tally: [
                series_points[tally.run_id]._replace(tag=tag)
                for tag in tags_of[tally.tag_set_id].intersection(shown)
            ],
        )
        rates = Rates(groups, answers=lambda place: answers[place[1:]])
        return cls(groups, others, rates, _lowest_first(shown, groups), left_out)

    def points(self, series_line: SeriesLine, runs: Mapping[int, Run]) -> tuple[Point, ...]:
        places = (
            (RateKey("", series_line.key, number), series_point)
            for number, series_point in enumerate(series_line.series_points)
        )
        return tuple(
            Point(
                place=place,
                series_point=series_point,
                run=runs[series_point.newest.run],
                rate=self.rates.get(place) or NOTHING,
                others=self.groups[place].excluded if place in self.groups else {},
            )
            for place, series_point in places
        )


def _answers(series: SeriesLines, runs: Mapping[int, Run]) -> dict[tuple[str, int], int]:
    """Return the answers to each test by point (line, place)."""
    return {
        (series_line.key, place): sum(runs[run.run].repeats for run in series_point.runs)
        for series_line in series.shown
        for place, series_point in enumerate(series_line.series_points)
    }


def _tagged(query: TrendQuery, series: SeriesLines) -> list[int]:
    """Return the runs with rates by tag."""
    if query.has_subject:
        return []
    if query.each_tag:
        return series.runs
    points = [point for series_line in series.shown for point in series_line.series_points]
    newest = sorted(points, key=lambda point: (point.at, point.newest.run), reverse=True)
    return [run.run for point in newest[:MAX_COLUMNS] for run in point.runs]


NOTHING = Rate(passed=0, n=0, share=None, total=0)


def _largest(
    tallies: Iterable[Tally], tags_of: Mapping[int, frozenset[str]]
) -> tuple[tuple[str, ...], int]:
    """Return the tags with most results, and the number of others."""
    results: Counter[str] = Counter()
    for tally in tallies:
        for tag in tags_of[tally.tag_set_id]:
            results[tag] += tally.passed + tally.failed
    results = +results
    order = sorted(results, key=lambda tag: (-results[tag], tag))
    return tuple(order[:MAX_TAGS]), max(0, len(order) - MAX_TAGS)


def _lowest_first(tags: Iterable[str], groups: Mapping[RateKey, Group]) -> tuple[str, ...]:
    passed, scored = dict.fromkeys(tags, 0), dict.fromkeys(tags, 0)
    for place, group in groups.items():
        if place.tag in passed:
            passed[place.tag] += group.passed
            scored[place.tag] += group.scored
    return tuple(
        sorted(passed, key=lambda tag: (passed[tag] / scored[tag] if scored[tag] else 2, tag))
    )
