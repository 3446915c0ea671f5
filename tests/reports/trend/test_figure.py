"""Pass rates over releases or time as figures."""

import json
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import line_style
from reports.trend.figure import Dot, DrawnLine, Mark, small_multiples, trend_lines


def dot(place, share=0.5, interval=(0.4, 0.6), run=1):
    return Dot(place, share, Interval(*interval) if interval else None, "9 of 10 <i>", run)


LINE = DrawnLine("aurora <b>", line_style(1), [dot(0), dot(1, 0.6, (0.5, 0.7)), dot(2, None, None)])
OTHER = DrawnLine("kelp", line_style(2), [dot(1, 0.9, (0.8, 0.95))])
MARK = Mark(1, 1, "B replaced A.")
RELEASES = ("1.0", "1.1", "1.2")
FIGURES = {
    "releases": trend_lines([LINE, OTHER], [MARK], RELEASES),
    "time": trend_lines([DrawnLine("a", line_style(1), [dot("2026-03-01T10:00:00")])], [], ()),
    "nothing": trend_lines([], [], ()),
    "panels": small_multiples([("law", [LINE]), ("maths", [LINE, OTHER])], [MARK], RELEASES),
    "no panels": small_multiples([], [], ()),
}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_figure_is_one_that_plotly_accepts(figure):
    assert go.Figure(figure).data is not None
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure


def traces(figure, mode="lines+markers"):
    return [trace for trace in figure["data"] if trace["mode"] == mode]


def test_line_has_a_gap_where_nothing_was_scored():
    assert traces(FIGURES["releases"])[0]["y"] == [0.5, 0.6, None]


def test_intervals_are_a_band_there_and_back():
    band = traces(FIGURES["releases"], "lines")[0]
    assert band["x"] == [0, 1, 1, 0]
    assert band["y"] == [0.6, 0.7, 0.5, 0.4]
    assert band["fillcolor"] == LINE.look.colour


def test_a_line_of_one_dot_has_a_whisker_instead():
    other = traces(FIGURES["releases"])[1]
    assert other["error_y"]["arrayminus"] == [pytest.approx(0.1)]
    assert other["error_y"]["array"] == [pytest.approx(0.05)]


def test_bands_of_several_lines_wait_for_the_pointer():
    assert traces(FIGURES["releases"], "lines")[0]["opacity"] == 0
    (band,) = traces(trend_lines([LINE], [], RELEASES), "lines")
    assert band["opacity"] > 0


def test_a_line_has_a_gap_over_a_release_without_a_run():
    line = DrawnLine("a", line_style(1), [dot(0), dot(1), dot(3)])
    (drawn,) = traces(trend_lines([line], [], ("1", "2", "3", "4")))
    assert drawn["x"] == [0, 1, 2, 3]
    assert [share is None for share in drawn["y"]] == [False, False, True, False]


@pytest.mark.parametrize(
    ("word", "signs"),
    [(Word.WORSE, ["▼"]), (Word.MIXED, ["▼"]), (Word.BETTER, ["▲"]), (Word.CANNOT_TELL, [])],
)
def test_a_sure_change_is_flagged_at_its_point(word, signs):
    last = replace(dot(1), flag=word)
    layout = trend_lines([DrawnLine("a", line_style(1), [dot(0), last])], [], RELEASES)["layout"]
    assert [note["text"] for note in layout["annotations"]] == [f"<b>{sign}</b>" for sign in signs]
    assert all((note["x"], note["y"]) == (1, 0.5) for note in layout["annotations"])


def test_an_axis_that_does_not_begin_at_0_says_so():
    high = DrawnLine("a", line_style(1), [dot(0, 0.9, (0.83, 0.95)), dot(1, 0.9, (0.83, 0.95))])
    axis = trend_lines([high], [], RELEASES)["layout"]["yaxis"]
    assert axis["title"]["text"] == f"Pass rate (axis from {axis['range'][0]:.0%})"
    low = DrawnLine("a", line_style(1), [dot(0, 0.1, (0, 0.3)), dot(1, 0.1, (0, 0.3))])
    assert trend_lines([low], [], RELEASES)["layout"]["yaxis"]["title"]["text"] == "Pass rate"


def test_text_of_people_is_escaped():
    line = traces(FIGURES["releases"])[0]
    assert line["name"] == "aurora &lt;b&gt;"
    assert line["text"][0] == "50%, 9 of 10 &lt;i&gt;"


def test_what_changed_is_marked_before_the_release_that_it_changed_in():
    layout = FIGURES["releases"]["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [0.5]
    assert [note["text"] for note in layout["annotations"]] == ["<b>1</b>"]


def test_axis_shows_all_intervals_and_no_less_than_thirty_points():
    low, high = FIGURES["releases"]["layout"]["yaxis"]["range"]
    assert low <= 0.4
    assert high >= 0.95
    low, high = trend_lines([LINE], [], RELEASES)["layout"]["yaxis"]["range"]
    assert high - low >= 0.3


def test_many_releases_are_named_in_part_with_the_last():
    names = [f"1.{n}" for n in range(40)]
    axis = trend_lines([LINE], [], names)["layout"]["xaxis"]
    assert len(axis["ticktext"]) <= 12
    assert axis["ticktext"][-1] == "1.39"


def test_panels_share_their_axes_and_one_legend():
    figure = FIGURES["panels"]
    layout = figure["layout"]
    assert layout["yaxis"]["range"] == layout["yaxis2"]["range"]
    named = [trace["name"] for trace in figure["data"] if trace["showlegend"]]
    assert named == ["aurora &lt;b&gt;", "kelp"]
    assert [note["text"] for note in layout["annotations"]] == ["<b>law</b>", "<b>maths</b>"]


def test_runs_of_one_hour_show_no_seconds():
    axis = FIGURES["time"]["layout"]["xaxis"]

    assert axis["range"] == ["2026-03-01T09:30:00", "2026-03-01T10:30:00"]


def test_runs_of_several_days_show_days():
    dots = [dot("2026-03-01T10:00:00"), dot("2026-03-09T10:00:00")]
    axis = trend_lines([DrawnLine("a", line_style(1), dots)], [], ())["layout"]["xaxis"]

    assert "range" not in axis
    assert axis["tickangle"] == 0
