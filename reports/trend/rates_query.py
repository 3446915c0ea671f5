"""The rates of the points of the trend: over all tests, and by tag."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from evalhub.values.id_in import IdIn
from reports.queries.exposure import less, only, tallies_of_tests
from reports.queries.names import all_tag_names
from reports.trend.filters import TrendQuery
from reports.trend.series_rule import SeriesLine, SeriesLines, SeriesPoint
from reports.trend.shared_tests_query import SharedTests
from runs.figures.rate import Rate
from runs.figures.tallies import Group, Rates, Tally, groups_of, tallies_over
from runs.models import Result, Run

MAX_TAGS = 24

MAX_COLUMNS = 10
"""Points with rates by tag, unless all are asked for."""

NOTHING = Rate(passed=0, n=0, share=None, total=0)


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
            of_others = Q(IdIn("test_id", shared.others), run__in=list(series_points))
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
