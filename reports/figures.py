"""Figures that only the reports draw, as plain Plotly dicts. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from evalhub.figures import NEUTRAL, Figure, outcome_pie


def outcome_ring(counts: Mapping[str, int]) -> Figure:
    """The outcomes as a ring beside a table: names stand there, so that the ring can be large."""
    figure = outcome_pie(counts)
    figure["data"][0] |= {
        "texttemplate": [
            "" if name == "pending" else "%{percent:.0%}"
            for name in figure["data"][0]["customdata"]
        ],
        "textposition": "inside",
        "insidetextorientation": "horizontal",
        "hovertext": figure["data"][0]["text"],
        "insidetextfont": {"color": "#ffffff"},
    }
    return figure


def binned_times(bars: Sequence[tuple[int, int, int]]) -> Figure:
    """A histogram of times already counted: (from ms, to ms, n), bounds growing by steps."""
    labels = [_span(low, high) for low, high, _ in bars]
    data = {
        "type": "bar",
        "x": labels,
        "y": [n for _, _, n in bars],
        "hovertext": [f"{label}: {bar[2]:,}" for label, bar in zip(labels, bars, strict=True)],
        "hoverinfo": "text",
        "marker": {"color": NEUTRAL},
    }
    return {"data": [data], "layout": _layout()}


def _span(low: int, high: int) -> str:
    return f"{low}–{high} ms" if high < 500 else f"{low / 1000:g}–{high / 1000:g} s"


def _layout() -> dict[str, Any]:
    clear, grid = "rgba(0,0,0,0)", "rgba(128,128,128,0.3)"
    return {
        "paper_bgcolor": clear,
        "plot_bgcolor": clear,
        "height": 220,
        "margin": {"l": 16, "r": 16, "t": 16, "b": 16},
        "bargap": 0.08,
        "showlegend": False,
        "xaxis": {"automargin": True, "type": "category"},
        "yaxis": {
            "title": {"text": "Answers"},
            "gridcolor": grid,
            "automargin": True,
            "rangemode": "tozero",
        },
    }
