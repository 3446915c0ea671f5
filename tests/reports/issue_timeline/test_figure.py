"""The strip of an issue: a square for each model in each release."""

import json

import plotly.graph_objects as go

from evalhub.statistics.rates.behaviour_outcome import Word
from reports.issue_timeline.figure import SQUARES, Square, strip

FIGURE = strip(
    ["1.0", "1.1 <b>"],
    ["aurora", "kelp"],
    [[Square(Word.PASSES, 1.0), Square(Word.FAILS, 0.333)], [None, Square(Word.CANNOT_TELL, None)]],
)


def test_figure_is_one_that_plotly_accepts():
    assert go.Figure(FIGURE).data is not None
    assert json.loads(json.dumps(FIGURE, allow_nan=False)) == FIGURE


def test_each_outcome_has_its_place_and_a_model_that_did_not_run_none():
    passes, fails, cannot_tell = (
        SQUARES[word][0] for word in (Word.PASSES, Word.FAILS, Word.CANNOT_TELL)
    )
    assert FIGURE["data"][0]["z"] == [[passes, fails], [None, cannot_tell]]


def test_squares_say_the_percentage_that_passed():
    assert [note["text"] for note in FIGURE["layout"]["annotations"]] == ["100", "33", ""]


def test_the_legend_names_every_outcome():
    named = [trace["name"] for trace in FIGURE["data"][1:]]
    assert named == ["Passes", "Cannot tell", "Fails"]


def test_names_of_people_are_escaped():
    assert FIGURE["layout"]["xaxis"]["ticktext"][1] == "1.1 &lt;b&gt;"
