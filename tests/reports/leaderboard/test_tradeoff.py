"""Score against cost and latency: the frontier, and which model to take."""

import pytest

from reports.documents.model_lines import line_style
from reports.leaderboard.figure import Mark, score_against_price
from reports.leaderboard.tradeoff_rule import Spot, Usage, added, frontier


@pytest.mark.parametrize(
    ("spots", "best"),
    [
        ([("good", 0.9, 3), ("cheap", 0.5, 1), ("dear", 0.8, 4)], {"good", "cheap"}),
        ([("a", 0.9, 3), ("b", 0.9, 3)], {"a", "b"}),
        ([("a", 0.9, 3), ("b", 0.9, 2)], {"b"}),
        ([("a", 0.9, 3), ("unknown", 1.0, None)], {"a"}),
        ([], set()),
    ],
)
def test_a_model_is_on_the_frontier_unless_another_one_beats_it(spots, best):
    assert frontier([Spot(*spot) for spot in spots]) == best


def test_a_mean_cost_needs_the_price_of_every_answer():
    known = Usage(answers=2, cost_usd=0.5, with_cost=2, latency_ms=300, with_latency=1)
    assert known.usd_per_thousand == 250
    assert known.mean_latency_ms == 300
    both = added([known, Usage(1, 0.0, 0, 100, 1)])
    assert both.usd_per_thousand is None
    assert both.mean_latency_ms == 200
    assert added([]).mean_latency_ms is None


def test_the_frontier_is_drawn_by_rising_price():
    marks = [
        Mark("dear", line_style(1), 0.9, None, 3.0, "$3", is_best=True),
        Mark("cheap", line_style(2), 0.5, None, 1.0, "$1", is_best=True),
        Mark("beaten", line_style(3), 0.4, None, 2.0, "$2", is_best=False),
    ]
    line, *drawn = score_against_price(marks, "Cost")["data"]
    assert (line["x"], line["y"]) == ([1.0, 3.0], [0.5, 0.9])
    assert [mark["name"] for mark in drawn] == ["dear", "cheap", "beaten"]
