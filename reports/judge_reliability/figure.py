"""Figures of judges: alpha over time, an agreement matrix, a confusion matrix. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from evalhub.charts import NEUTRAL, Figure, axis, base_layout, label
from evalhub.statistics.krippendorff import RELIABLE, TENTATIVE
from reports.documents.model_lines import line_style_of_name

SHADES = [[0.0, "#F7F9FB"], [1.0, "#0B4A9E"]]
"""Of a matrix, from low to high, readable in both themes by lightness alone."""

ON_DARK, ON_LIGHT = "#FEFEFE", "#1A1F26"


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
    lines = [_line(jury, mine) for jury, mine in sorted(by_jury.items())]
    lowest = min((point.alpha for point in points), default=0.0)
    layout = base_layout(
        height=320,
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
        xaxis=axis("", type="date"),
        yaxis=axis("Krippendorff's alpha", range=[min(0.0, lowest) - 0.05, 1.05]),
        shapes=[_threshold(RELIABLE), _threshold(TENTATIVE)],
        annotations=[
            _named(RELIABLE, "reliable from 0.8"),
            _named(TENTATIVE, "tentative from 0.667"),
        ],
    )
    return {"data": lines, "layout": layout}


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


def _threshold(value: float) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "line": line,
    }


def _named(value: float, text: str) -> dict[str, Any]:
    return {
        "text": text,
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "y": value,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11},
    }


def matrix(
    names: Sequence[str], values: Sequence[Sequence[float | None]], texts: Sequence[Sequence[str]]
) -> Figure:
    """Draw the agreement of judges, the first on top; a cell without a value stays empty.

    Args:
        values: In [-1, 1], shape (judges, judges).
        texts: The text of each cell.
    """
    return _shaded([label(name) for name in names], [label(name) for name in names], values, texts)


def confusion(shares: Sequence[Sequence[float]], texts: Sequence[Sequence[str]]) -> Figure:
    """Draw the judge's verdicts (rows: passed, failed) by human verdicts (columns: likewise).

    Args:
        shares: Of all answers, in [0, 1], shape (2, 2).
        texts: The text of each cell.
    """
    figure = _shaded(
        ["Humans: passed", "Humans: failed"], ["Judge: passed", "Judge: failed"], shares, texts
    )
    figure["layout"]["height"] = 260
    return figure


def _shaded(
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
) -> Figure:
    cells = {
        "type": "heatmap",
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "z": [list(row) for row in values],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SHADES,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverinfo": "skip",
    }
    layout = base_layout(
        height=120 + 44 * max(len(rows), 2),
        xaxis=_names(columns, side="top"),
        yaxis=_names(rows, autorange="reversed"),
        annotations=[
            _inside(column, row, texts[row][column], value)
            for row, line in enumerate(values)
            for column, value in enumerate(line)
            if value is not None
        ],
    )
    return {"data": [cells], "layout": layout}


def _names(names: Sequence[str], **options: Any) -> dict[str, Any]:
    places = list(range(len(names)))
    shown = {"tickvals": places, "ticktext": list(names), "automargin": True}
    return {**shown, "showgrid": False, "zeroline": False, **options}


def _inside(column: int, row: int, text: str, value: float) -> dict[str, Any]:
    colour = ON_DARK if value > 0.5 else ON_LIGHT
    return {"x": column, "y": row, "text": text, "showarrow": False, "font": {"color": colour}}
