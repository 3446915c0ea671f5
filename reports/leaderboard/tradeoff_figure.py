"""Scores against cost or latency, with the frontier, as a plain Plotly figure. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalhub.display.charts import LEGEND_ROW_PX, NEUTRAL, Figure, axis, base_layout, label
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import LineStyle


@dataclass(frozen=True)
class Mark:
    """A model's mean score in [0, 1] and its price, such as US dollars or milliseconds."""

    name: str
    look: LineStyle
    score: float
    interval: Interval | None
    price: float
    price_words: str
    is_best: bool


def score_against_price(marks: Sequence[Mark], title: str) -> Figure:
    """Draw a mark for each model, and a stepped line through the frontier."""
    best = sorted((mark for mark in marks if mark.is_best), key=lambda mark: mark.price)
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "frontier",
        "x": [mark.price for mark in best],
        "y": [mark.score for mark in best],
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot", "shape": "hv"},
        "hoverinfo": "skip",
    }
    layout = base_layout(
        height=340 + LEGEND_ROW_PX * len(marks),
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        xaxis=axis(title, rangemode="tozero"),
        yaxis=axis("Mean score", range=[0, 1.02]),
    )
    return {"data": [line, *map(_trace, marks)], "layout": layout}


def _trace(mark: Mark) -> dict[str, Any]:
    name = label(mark.name)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [mark.price],
        "y": [mark.score],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [mark.interval.high - mark.score if mark.interval else None],
            "arrayminus": [mark.score - mark.interval.low if mark.interval else None],
            "color": mark.look.colour,
        },
        "marker": {"symbol": mark.look.marker, "size": 11, "color": mark.look.colour},
        "hovertext": [f"{name}: {mark.score:.3f}, {mark.price_words}"],
        "hoverinfo": "text",
    }
