"""Figures of leaderboards and drift, as plain Plotly dicts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.display.charts import (
    LEGEND_ROW_PX,
    NEUTRAL,
    Figure,
    axis,
    bar_layout,
    base_layout,
    error_bars,
    label,
)
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import LineStyle

BETTER, WORSE = OUTCOMES["passed"].colour, OUTCOMES["failed"].colour
"""Colours of a change for the better or the worse."""


class Mean(NamedTuple):
    """A ranked mean in [0, 1] over `n` units, with its interval or None."""

    key: str
    name: str
    mean: float
    n: int
    interval: Interval | None


class Move(NamedTuple):
    """A score's change between two runs; both in [0, 1]."""

    name: str
    before: float
    after: float

    @property
    def colour(self) -> str:
        return BETTER if self.after > self.before else WORSE

    @property
    def arrow(self) -> str:
        return "triangle-right" if self.after > self.before else "triangle-left"


def ranked_means(rows: Sequence[Mean], *, unit: str, title: str = "Mean score") -> Figure:
    """Draw a point for each mean with its interval as a bar, from the top.

    Args:
        unit: The unit of n, in the plural.
        title: What is meant by the mean, for its axis.
    """
    units = [unit.removesuffix("s") if row.n == 1 else unit for row in rows]
    texts = [f"{label(row.name)} ({row.n:,} {one})" for row, one in zip(rows, units, strict=True)]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": [row.mean for row in rows],
        "y": list(range(len(rows))),
        "error_x": error_bars([(row.mean, row.interval) for row in rows], NEUTRAL),
        "hovertext": [f"{text}: {row.mean:.3f}" for text, row in zip(texts, rows, strict=True)],
        "hoverinfo": "text",
        "customdata": [row.key for row in rows],
        "marker": {"color": NEUTRAL, "size": 11},
    }
    layout = base_layout(**bar_layout(texts), showlegend=False, xaxis=axis(title, range=[0, 1.02]))
    return {"data": [points], "layout": layout}


def moves(rows: Sequence[Move]) -> Figure:
    """Draw an arrow for each score from before to after."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [row.before, row.after],
            "y": [place, place],
            "hovertext": [f"{label(row.name)}: {score:.3f}" for score in (row.before, row.after)],
            "hoverinfo": "text",
            "line": {"color": row.colour, "width": 3},
            "marker": {"color": row.colour, "size": [8, 14], "symbol": ["circle", row.arrow]},
        }
        for place, row in enumerate(rows)
    ]
    layout = base_layout(
        **bar_layout([label(row.name) for row in rows]),
        showlegend=False,
        xaxis=axis("Score of the run", range=[0, 1.02]),
    )
    return {"data": lines, "layout": layout}


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
        "error_y": error_bars([(mark.score, mark.interval)], mark.look.colour),
        "marker": {"symbol": mark.look.marker, "size": 11, "color": mark.look.colour},
        "hovertext": [f"{name}: {mark.score:.3f}, {mark.price_words}"],
        "hoverinfo": "text",
    }
