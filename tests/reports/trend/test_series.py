"""Which runs make the lines of a trend, and in what order."""

from datetime import UTC, datetime, timedelta

import pytest

from reports.trend.series_rule import RunKey, by_release, by_time, has_releases
from runs.comparison.release_order_rule import Named, ReleaseOrder

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def brief(run, line="a", release="", *, variant=None, hours=None):
    at = START + timedelta(hours=run if hours is None else hours)
    return RunKey(run, line, variant or line, release, at)


def shown(series):
    return {
        c.key: [[run.run for run in series_point.runs] for series_point in c.series_points]
        for c in series.shown
    }


def released(runs, lines=8, points=20):
    return by_release(runs, max_lines=lines, max_points=points)


def timed(runs, lines=8, points=20):
    return by_time(runs, max_lines=lines, max_points=points)


def test_the_axis_has_the_order_of_releases_whenever_they_ran():
    runs = [brief(1, release="2.0"), brief(2, release="1.9"), brief(3, release="2.0"), brief(4)]
    order = ReleaseOrder((Named("1.9", "", START), Named("2.0", "", START)))
    found = by_release(runs, max_lines=8, max_points=20, releases=order)
    assert (found.releases, shown(found)) == (("1.9", "2.0"), {"a": [[2], [3, 1]]})


def test_one_release_is_no_axis():
    assert not has_releases([brief(1, release="1.0"), brief(2, release="1.0"), brief(3)])
    assert has_releases([brief(1, release="1.0"), brief(2, release="1.1")])


@pytest.mark.parametrize(
    ("releases", "points", "unreleased"),
    [
        (("1", "1", "2"), [[2, 1], [3]], 0),
        (("1", "2", "1"), [[3, 1], [2]], 0),  # a late run is at its release
        (("1", "", "2"), [[1], [3]], 1),
    ],
)
def test_the_runs_of_a_release_are_taken_together(releases, points, unreleased):
    series = released([brief(n, release=release) for n, release in enumerate(releases, 1)])
    assert shown(series) == {"a": points}
    assert series.unreleased == unreleased


def test_variants_on_one_line_are_taken_together_in_a_release_or_by_day():
    runs = [brief(1, "f", "1", variant="x"), brief(2, "f", "1", variant="y")]
    later = brief(3, "f", variant="x", hours=30)
    assert shown(released(runs)) == {"f": [[2, 1]]}
    assert shown(timed([*runs, later])) == {"f": [[2, 1], [3]]}


def test_lines_that_were_run_last_are_shown_first_and_the_others_named():
    runs = [brief(1, "a"), brief(2, "b"), brief(3, "c"), brief(4, "a")]
    series = timed(runs, lines=2)
    assert list(shown(series)) == ["a", "c"]
    assert series.left_out == ("b",)


def test_points_that_there_is_no_room_for_are_counted():
    series = timed([brief(n) for n in range(1, 6)], points=3)
    assert shown(series) == {"a": [[3], [4], [5]]}
    assert series.earlier == 2


def test_releases_that_there_is_no_room_for_are_the_oldest():
    runs = [brief(n, release=f"1.{n}") for n in range(5)]
    series = released(runs, points=2)
    assert series.releases == ("1.3", "1.4")
    assert shown(series) == {"a": [[3], [4]]}
    assert series.earlier == 3


def test_a_line_without_a_run_in_the_shown_releases_is_not_drawn():
    runs = [brief(1, "old", "1"), *(brief(n, "a", str(n)) for n in (2, 3))]
    series = released(runs, points=2)
    assert list(shown(series)) == ["a"]
    assert series.earlier == 1


def test_attempts_at_a_release_are_one_point_in_time_too():
    runs = [brief(1, release="1"), brief(2, release="2"), brief(3, release="1"), brief(4)]
    assert shown(timed(runs)) == {"a": [[2], [3, 1], [4]]}


def test_each_run_without_a_release_is_a_point_in_time():
    assert shown(timed([brief(1), brief(2, hours=1)])) == {"a": [[1], [2]]}
    assert timed([]).shown == released([]).shown == ()
