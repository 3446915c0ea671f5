import json

from evalhub.statistics.interval import Interval
from reports.leaderboard.figure import BETTER, WORSE, Mean, Move, moves, ranked_means

MEANS = [Mean("a", "A <b>", 0.8, 12, Interval(0.7, 0.85)), Mean("b", "B", 0.5, 10, None)]


def test_means_stand_in_their_order_with_what_they_are_of():
    figure = ranked_means(MEANS, unit="suites")
    assert figure["data"][0]["x"] == [0.8, 0.5]
    assert figure["layout"]["yaxis"]["ticktext"] == ["A &lt;b&gt; (12 suites)", "B (10 suites)"]


def test_mean_without_an_interval_has_no_bar():
    bars = ranked_means(MEANS, unit="suites")["data"][0]["error_x"]
    assert [None if low is None else round(low, 3) for low in bars["arrayminus"]] == [0.1, None]


def test_colour_and_arrow_tell_the_direction():
    down, up = moves([Move("m", 0.8, 0.6), Move("n", 0.2, 0.4)])["data"]
    assert (down["line"]["color"], down["marker"]["symbol"][1]) == (WORSE, "triangle-left")
    assert (up["line"]["color"], up["marker"]["symbol"][1]) == (BETTER, "triangle-right")


def test_figures_are_plain_json():
    assert json.dumps([ranked_means(MEANS, unit="suites"), moves([])])
