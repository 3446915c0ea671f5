"""Figures of judges: alpha over time, an agreement matrix, a confusion matrix. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from evalhub.display.charts import NEUTRAL, Figure, axis, base_layout, heat_map, label
from evalhub.statistics.agreement.alpha_bands import RELIABLE, TENTATIVE
from reports.documents.model_lines import line_style_of_name

SHADES = ((0.0, "#F7F9FB"), (1.0, "#0B4A9E"))
"""Of a matrix, from low to high, readable in both themes by lightness alone."""

ON_DARK, ON_LIGHT = "#FFFFFF", "#000000"
DARK_FROM = 0.74
"""Value from which a cell is dark enough for light text."""


class Alpha(NamedTuple):
    """Agreement of a jury in one judge run; `jury` names its line."""

    jury: str
    at: datetime
    alpha: float
    units: int
    run: str


def alpha_lines(points: Sequence[Alpha]) -> Figure:
    """Draw one line per jury, as different juries cannot be compared, and the two thresholds."""
    by_jury: dict[str, list[Alpha]] = defaultdict(list)
    for point in sorted(points, key=lambda point: point.at):
        by_jury[point.jury].append(point)
    lowest = min((point.alpha for point in points), default=0.0)
    thresholds = {RELIABLE: f"reliable from {RELIABLE}", TENTATIVE: f"tentative from {TENTATIVE}"}
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    layout = base_layout(
        height=320,
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
        xaxis=axis("", type="date"),
        yaxis=axis("Krippendorff's alpha", range=[min(0.0, lowest) - 0.05, 1.05]),
        shapes=[
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}
            for y in thresholds
        ],
        annotations=[
            {
                "text": text,
                "xref": "paper",
                "x": 1,
                "xanchor": "right",
                "y": y,
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 11},
            }
            for y, text in thresholds.items()
        ],
    )
    return {"data": [_line(jury, mine) for jury, mine in sorted(by_jury.items())], "layout": layout}


def _line(jury: str, points: Sequence[Alpha]) -> dict[str, Any]:
    look = line_style_of_name(jury)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(jury),
        "x": [point.at.isoformat() for point in points],
        "y": [point.alpha for point in points],
        "hovertext": [
            f"{label(point.run)}: alpha {point.alpha:.3f} over {point.units:,} criteria"
            for point in points
        ],
        "hoverinfo": "text",
        "line": {"color": look.colour, "dash": look.dash},
        "marker": {"color": look.colour, "symbol": look.marker, "size": 9},
    }


def matrix(
    names: Sequence[str], values: Sequence[Sequence[float | None]], texts: Sequence[Sequence[str]]
) -> Figure:
    """Draw the agreement of judges, the first on top; a cell without a value stays empty.

    Args:
        values: In [-1, 1], shape (judges, judges).
        texts: The text of each cell.
    """
    labels = [label(name) for name in names]
    return _shaded(labels, labels, values, texts, height=120 + 44 * max(len(names), 2))


def confusion(shares: Sequence[Sequence[float]], texts: Sequence[Sequence[str]]) -> Figure:
    """Draw the judge's verdicts (rows: passed, failed) by human verdicts (columns: likewise).

    Args:
        shares: Of all answers, in [0, 1], shape (2, 2).
        texts: The text of each cell.
    """
    columns, rows = ["Humans: passed", "Humans: failed"], ["Judge: passed", "Judge: failed"]
    return _shaded(columns, rows, shares, texts, height=260)


def _shaded(*table: Any, height: int) -> Figure:
    return heat_map(
        *table,
        scale=SHADES,
        text_colour=lambda value: ON_DARK if value > DARK_FROM else ON_LIGHT,
        height=height,
        side="top",
    )
