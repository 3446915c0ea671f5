"""Figures of leaderboards and drift, as plain Plotly dicts. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from evalhub.display.charts import NEUTRAL, Figure, axis, bar_layout, base_layout, label
from evalhub.outcomes import OUTCOMES
from evalhub.statistics.interval import Interval

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
        "error_x": {
            "type": "data",
            "symmetric": False,
            "arrayminus": [row.mean - row.interval.low if row.interval else None for row in rows],
            "array": [row.interval.high - row.mean if row.interval else None for row in rows],
            "color": NEUTRAL,
        },
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
