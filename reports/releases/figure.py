"""The pass rates of two releases as a slope chart, a plain Plotly figure. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from evalhub.display.charts import LEGEND_ROW_PX, Figure, axis, base_layout, share_label
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import LineStyle

APART = 0.02
"""Horizontal distance of two models' marks, so that their intervals do not hide each other."""

CERTAIN_PX, UNCERTAIN_PX = 5, 1.5
MIN_SPAN = 0.3


@dataclass(frozen=True)
class Slope:
    """A model's pass rates, in [0, 1]. `verdict` is "" unless the change is significant.

    `is_joined`: the runs are comparable, so that a line may lead from one to the other.
    """

    name: str
    look: LineStyle
    before: tuple[float | None, Interval | None]
    now: tuple[float | None, Interval | None]
    verdict: str
    is_joined: bool


def slope_chart(slopes: Sequence[Slope], names: tuple[str, str]) -> Figure:
    """Draw a line for each model: thick where its change is significant.

    Rates of runs that are not comparable are not joined.
    """
    middle = (len(slopes) - 1) / 2
    data = [_trace(slope, APART * (place - middle)) for place, slope in enumerate(slopes)]
    layout = base_layout(
        height=320 + LEGEND_ROW_PX * len(slopes),
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        xaxis=axis(
            "",
            tickmode="array",
            tickvals=[0, 1],
            ticktext=[escape(name, quote=False) for name in names],
            range=[-0.25, 1.25],
            zeroline=False,
        ),
        yaxis=axis("Pass rate of scored results", tickformat=".0%", range=_span(slopes)),
    )
    return {"data": data, "layout": layout}


def _trace(slope: Slope, shift: float) -> dict[str, Any]:
    name = escape(slope.name, quote=False)
    points = (slope.before, slope.now)
    about = slope.verdict or ("not significant" if slope.is_joined else "not comparable")
    return {
        "type": "scatter",
        "mode": "lines+markers" if slope.is_joined else "markers",
        "name": f"{name}: {slope.verdict}" if slope.verdict else name,
        "x": [shift, 1 + shift],
        "y": [share for share, _ in points],
        "hovertext": [f"{name}: {share_label(share)}, {about}" for share, _ in points],
        "hoverinfo": "text",
        "line": {
            "color": slope.look.colour,
            "dash": slope.look.dash,
            "width": CERTAIN_PX if slope.verdict else UNCERTAIN_PX,
        },
        "marker": {"symbol": slope.look.marker, "size": 9, "color": slope.look.colour},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [bounds and bounds.high - (share or 0) for share, bounds in points],
            "arrayminus": [bounds and (share or 0) - bounds.low for share, bounds in points],
            "visible": any(interval for _, interval in points),
            "color": slope.look.colour,
            "thickness": 1,
            "width": 3,
        },
    }


def _span(slopes: Sequence[Slope]) -> list[float]:
    """Return the range of the axis: all intervals, and at least `MIN_SPAN`."""
    ends = [
        end
        for slope in slopes
        for share, interval in (slope.before, slope.now)
        if share is not None
        for end in (interval or (share, share))
    ]
    low, high = min(ends, default=0.0) - 0.02, max(ends, default=1.0) + 0.02
    missing = max(0.0, MIN_SPAN - (high - low)) / 2
    return [max(-0.03, low - missing), min(1.03, high + missing)]
