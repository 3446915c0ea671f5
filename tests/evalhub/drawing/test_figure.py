"""Figures drawn as static SVG."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from evalhub.display import charts
from evalhub.drawing.axes import round_numbers
from evalhub.drawing.figure import WIDTH, svg_of
from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.behaviour_outcome import Word as IssueWord
from reports.compare.figure import NetRow, RateDots, changes_by_line, dumbbells, net_changes
from reports.compare.rule import Tally
from reports.documents.model_lines import line_style
from reports.issue_timeline.figure import Square, strip
from reports.judge_reliability.figure import Alpha, alpha_lines, matrix
from reports.leaderboard.figure import Mark as Priced
from reports.leaderboard.figure import Mean, Move, moves, ranked_means, score_against_price
from reports.run.figure import binned_costs, binned_times
from reports.trend.figure import Dot, DrawnLine, Mark, small_multiples, trend_lines
from runs.figures.rate import rate_of_issues
from tests.evalhub.test_charts import FIGURES, TAGS, TEXT_CONTRAST, THEMES, contrast

HALF = Interval(0.4, 0.6)
RATE = rate_of_issues([(1, 2)], answers=1)
LOOK = line_style(1)
LINE = DrawnLine("aurora", LOOK, [Dot(0, 0.5, HALF, "", 1), Dot(1, 0.6, HALF, "", 2)])
GAP = DrawnLine("kelp", line_style(2, 1), [Dot(0, None, None, "", 3), Dot(1, 0.2, HALF, "", 4)])
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALL = FIGURES | {
    "changes": changes_by_line([("maths", Tally(worse=3, better=1, same=2))]),
    "trend": trend_lines([LINE, GAP], [Mark(1, 1, "jury")], ["1.0", "1.1"]),
    "one day": trend_lines([DrawnLine("a", LOOK, [Dot("2026-03-02T12:00:00", 0.5, HALF, "", 1)])]),
    "no lines": trend_lines([]),
    "panels": small_multiples([("maths", [LINE]), ("law", [GAP])], [], ["1.0", "1.1"]),
    "alpha": alpha_lines([Alpha("jury", NOON, 0.7, 9, "run"), Alpha("jury", NOON, 0.8, 9, "run")]),
    "matrix": matrix(["a", "b"], [[None, 0.9], [0.9, None]], [["", "90%"], ["90%", ""]]),
    "means": ranked_means([Mean("1", "aurora", 0.7, 3, HALF)], unit="suites"),
    "moves": moves([Move("aurora", 0.8, 0.4)]),
    "prices": score_against_price([Priced("aurora", LOOK, 0.7, HALF, 0.5, "$0.5", True)], "Cost"),
    "net changes": net_changes([NetRow("aurora", -0.1, Interval(-0.2, 0.1), Word.WORSE)]),
    "times": binned_times([(0, 500, 3), (500, 1000, 1)]),
    "costs": binned_costs(2, []),
    "rates": dumbbells(["maths"], [RateDots("aurora", LOOK.colour, "circle", [RATE], [""])]),
    "strip": strip(["1.0"], ["aurora", "kelp"], [[Square(IssueWord.FAILS, 0.25)], [None]]),
}


def drawn(figure):
    return ElementTree.fromstring(svg_of(figure, "A <b> & a title"))


def words(figure):
    return " ".join("".join(part.itertext()) for part in drawn(figure))


@pytest.mark.parametrize("figure", ALL.values(), ids=ALL)
def test_every_figure_is_drawn_without_scripts_or_links(figure):
    svg = svg_of(figure, "title")

    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "<script" not in svg
    assert "href" not in svg


def test_stacks_end_inside_the_picture():
    bars = [part for part in drawn(charts.tag_bars(TAGS)).iter() if part.tag.endswith("rect")]

    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars]
    assert len(ends) > 5
    assert max(ends) <= WIDTH


def test_a_ring_says_its_parts_and_its_middle():
    said = words(charts.outcome_pie({"passed": 12, "failed": 4}))

    assert "Passed: 12 (75%)" in said
    assert "12 of 16" in said


def test_a_line_is_broken_where_nothing_is_scored():
    dots = [Dot(n, share, None, "", n) for n, share in enumerate((0.5, None, 0.6, 0.7))]
    figure = trend_lines([DrawnLine("a", LOOK, dots)], [], ["1", "2", "3", "4"])

    (path,) = [part for part in drawn(figure).iter() if part.get("stroke-width") == "2"]
    assert path.get("d").count("M") == 2


def test_names_of_people_stay_text():
    figure = charts.tag_bars([charts.OutcomeRow("t", "<script>a & b</script>", {"passed": 1})])

    assert "<script" not in svg_of(figure)
    assert "<script>a & b</script> (n = 1)" in words(figure)


def test_colours_are_values_where_no_file_defines_them():
    light = {name[4:-1]: pair[0] for name, pair in THEMES.items()} | {"--eh-text": "#000000"}

    svg = svg_of(FIGURES["tags"], colours=light)
    assert "var(" not in svg
    assert light["--eh-passed"] in svg


def test_labels_are_round():
    assert round_numbers(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert round_numbers(3, 58) == [10, 20, 30, 40, 50]
    assert round_numbers(2, 2) == [2]


@pytest.mark.parametrize("percent", range(101))
def test_numbers_in_a_matrix_are_legible(percent):
    figure = matrix(["a"], [[percent / 100]], [["x"]])
    svg = svg_of(figure)

    (cell,) = re.findall(r"<rect[^>]*fill:(#\w+)", svg)
    (note,) = figure["layout"]["annotations"]
    assert contrast(cell, note["font"]["color"]) >= TEXT_CONTRAST


def test_a_bar_over_dates_is_a_day_wide():
    layout = {"height": 200, "xaxis": {"type": "date"}, "yaxis": {}}
    two = {"type": "bar", "x": ["2026-11-20", "2026-11-22"], "y": [2, 1], "marker": {}}

    first, second = drawn({"data": [two], "layout": layout}).iterfind(".//{*}rect")

    wide = float(first.get("width"))
    assert wide > 100
    assert float(second.get("x")) - float(first.get("x")) == pytest.approx(
        2 * wide / 0.8, rel=0.001
    )
