from decimal import Decimal

import plotly.graph_objects as go
import pytest

from reports.run.figure import binned_costs, binned_times, outcome_ring


@pytest.mark.parametrize(
    "figure",
    [
        outcome_ring({"passed": 3, "failed": 1, "pending": 2}),
        binned_times([(200, 500, 3), (500, 1000, 0), (1000, 2000, 7)]),
        binned_costs(2, [(Decimal("0.001"), Decimal("0.002"), 4)]),
    ],
)
def test_plotly_accepts_the_figure(figure):
    assert go.Figure(figure).data


def test_times_are_labelled_in_the_unit_that_reads_best():
    (bars,) = binned_times([(20, 50, 1), (200, 500, 3), (1000, 2000, 7)])["data"]

    assert bars["x"] == ["20–50 ms", "0.2–0.5 s", "1–2 s"]


def test_answers_that_cost_nothing_have_a_bar_of_their_own():
    bars = [(Decimal("0.001"), Decimal("0.002"), 4)]
    (with_free,) = binned_costs(2, bars)["data"]
    (without,) = binned_costs(0, bars)["data"]

    assert (with_free["x"], with_free["y"]) == (["free", "$0.001–0.002"], [2, 4])
    assert without["y"] == [4]


def test_a_share_is_written_on_every_part_but_pending():
    (ring,) = outcome_ring({"passed": 3, "pending": 2})["data"]
    (uneven,) = outcome_ring({"passed": 2039, "failed": 1})["data"]

    assert ring["texttemplate"] == ["60%", ""]
    assert uneven["texttemplate"] == ["&gt;99%", "&lt;1%"]
