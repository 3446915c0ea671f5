"""Runs beside each other as figures."""

import json

import plotly.graph_objects as go
import pytest

from evalhub.statistics.interval import Interval
from reports.documents.model_lines import line_style
from reports.run_details.figure import Bars, grouped_rates, rings

COUNTS = {"passed": 3, "failed": 1, "unscored": 0, "error": 0, "pending": 0}
BARS = [
    Bars("kelp", line_style(1), [(0.5, Interval(0.4, 0.7)), None], ["kelp, <law>", "kelp, maths"]),
    Bars("aurora", line_style(2), [(0.75, None), (1.0, None)], ["a", "b"]),
]
FIGURES = {
    "rings": rings([(f"run {n} <b>", COUNTS) for n in range(5)]),
    "no rings": rings([]),
    "bars": grouped_rates(["law", "maths"], BARS),
    "no bars": grouped_rates([], []),
}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_figure_is_one_that_plotly_accepts(figure):
    assert go.Figure(figure).data is not None
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure


def test_each_run_has_a_ring_in_a_place_of_its_own():
    places = [json.dumps(ring["domain"]) for ring in FIGURES["rings"]["data"]]
    assert len(set(places)) == 5


def test_a_ring_says_its_pass_rate_and_whose_it_is():
    texts = [note["text"] for note in FIGURES["rings"]["layout"]["annotations"]]
    assert texts[:2] == ["<b>75%</b><br>3 of 4", "<b>run 0 &lt;b&gt;</b>"]


def test_bars_have_their_intervals_where_there_are_any():
    kelp, aurora = FIGURES["bars"]["data"]
    assert kelp["x"] == [0.5, None]
    assert kelp["error_x"]["arrayminus"] == [pytest.approx(0.1), None]
    assert aurora["error_x"]["array"] == [None, None]


def test_bars_have_the_colour_of_their_model():
    assert [bar["marker"]["color"] for bar in FIGURES["bars"]["data"]] == [
        line_style(1).colour,
        line_style(2).colour,
    ]
