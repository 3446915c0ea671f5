"""Pass rates over releases or time as plain Plotly figures. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from math import floor
from typing import Any

from evalhub.display.charts import (
    GRID,
    LEGEND_ROW_PX,
    NEUTRAL,
    Figure,
    axis,
    base_layout,
    error_bars,
    share_label,
)
from evalhub.display.formatting import ROUNDING
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import LineStyle

MAX_NAMES, FEW_NAMES = 12, 4
"""Maximum number of axis labels in a large and in a small figure."""

MAX_DAYS = 6
"""Maximum number of labels on a time axis."""

DAYS = [
    {"dtickrange": [None, 86_399_999], "value": "%H:%M\n%-d %b %Y"},
    {"dtickrange": [86_400_000, "M1"], "value": "%-d %b\n%Y"},
    {"dtickrange": ["M1", None], "value": "%b\n%Y"},
]
"""Formats of times by the distance between labels; a second line is shown only on change."""

SHORT, MARGIN = timedelta(hours=1), timedelta(minutes=30)
"""Runs within `SHORT` get `MARGIN` on both sides, so that the axis does not show seconds."""

PANELS_ACROSS = 2
PANEL_PX = 190
WHOLE = (-0.03, 1.03)
"""Range of all rates; small panels share it, so that they can be compared."""

MIN_SPAN = 0.3
"""Minimum range of the rate axis in a large figure: less would exaggerate small changes."""

STEP = 0.05
"""A large figure begins at a multiple of this, which its axis names."""

BAND = 0.13
"""Opacity of an interval; of several lines the page's script shows one at a time."""

Place = int | str
"""Position on the axis: the number of a release, or a time in ISO format."""


@dataclass(frozen=True)
class Dot:
    """A pass rate. `share` None: nothing scored, a gap in the line. `run` is its newest run.

    `text` follows the rate on hover, such as "9 of 10"; `flag` is the conclusion on the change that
    led to it, if it is a sure one.
    """

    place: Place
    share: float | None
    interval: Interval | None
    text: str
    run: int
    flag: Word | None = None


FLAGS: Mapping[Word, tuple[str, str]] = {
    Word.WORSE: ("▼", OUTCOMES["failed"].colour),
    Word.MIXED: ("▼", OUTCOMES["failed"].colour),
    Word.BETTER: ("▲", OUTCOMES["passed"].colour),
}
"""The sign at a point that judges rate worse or better than the one before, and its colour."""


@dataclass(frozen=True)
class DrawnLine:
    name: str
    look: LineStyle
    dots: Sequence[Dot]


@dataclass(frozen=True)
class Mark:
    """A change, drawn as a vertical line with its number."""

    place: Place
    number: int
    text: str


def trend_lines(
    lines: Sequence[DrawnLine], marks: Sequence[Mark] = (), releases: Sequence[str] = ()
) -> Figure:
    """Draw lines with their intervals as bands, and marks for changes.

    Args:
        releases: Names of the places on the axis; empty for a time axis.
    """
    low, high = _span(lines)
    start = f" (axis from {low:.0%})" if low > 0 else ""
    layout = base_layout(
        height=400 + LEGEND_ROW_PX * len(lines),
        hovermode="closest",
        showlegend=len(lines) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis=_places(releases, lines, most=MAX_NAMES),
        yaxis=axis(f"Pass rate{start}", tickformat=".0%", range=[low, high]),
        shapes=[_rule(mark, "x", "y domain") for mark in marks],
        annotations=[
            {
                "text": f"<b>{mark.number}</b>",
                "hovertext": escape(mark.text, quote=False),
                "x": _before(mark.place),
                "y": 1,
                "yref": "y domain",
                "yanchor": "top",
                "xanchor": "left",
                "showarrow": False,
            }
            for mark in marks
        ]
        + [_flag(dot, line) for line in lines for dot in line.dots if dot.flag in FLAGS],
    )
    band = BAND if len(lines) == 1 else 0.0
    return {"data": [part for line in lines for part in _traces(line, band)], "layout": layout}


def _flag(dot: Dot, line: DrawnLine) -> dict[str, Any]:
    sign, colour = FLAGS[dot.flag or Word.WORSE]
    return {
        "text": f"<b>{sign}</b>",
        "hovertext": f"{escape(line.name, quote=False)}: {escape(dot.text, quote=False)}",
        "x": dot.place,
        "y": dot.share,
        "yanchor": "bottom",
        "yshift": 5,
        "showarrow": False,
        "font": {"color": colour, "size": 14},
    }


def small_multiples(
    panels: Sequence[tuple[str, Sequence[DrawnLine]]],
    marks: Sequence[Mark],
    releases: Sequence[str],
) -> Figure:
    """Draw a small panel for each name, all with the same axes."""
    rows = -(-len(panels) // PANELS_ACROSS)
    everyone = [line for _, lines in panels for line in lines]
    layout = base_layout(
        height=PANEL_PX * max(rows, 1) + 60,
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": -0.02 - 0.12 / max(rows, 1), "yanchor": "top", "x": 0},
        annotations=[],
        shapes=[],
    )
    data: list[dict[str, Any]] = []
    named: set[str] = set()
    for number, (name, lines) in enumerate(panels):
        suffix = str(number + 1) if number else ""
        x, y = f"x{suffix}", f"y{suffix}"
        across, down = _spans(number, rows)
        places = _places(releases, everyone, most=FEW_NAMES)
        rates = axis("", tickformat=".0%", range=list(WHOLE))
        layout[f"xaxis{suffix}"] = places | {"domain": across, "anchor": y}
        layout[f"yaxis{suffix}"] = rates | {"domain": down, "anchor": x}
        layout["annotations"].append(_heading(name, x, y))
        layout["shapes"] += [_rule(mark, x, f"{y} domain") for mark in marks]
        for line in lines:
            for trace in _traces(line, BAND):
                # The legend takes the entry of a line from its first panel.
                is_named = trace.get("showlegend", True) and line.name not in named
                data.append(trace | {"xaxis": x, "yaxis": y, "showlegend": is_named})
        named |= {line.name for line in lines}
    return {"data": data, "layout": layout}


def _traces(line: DrawnLine, band: float) -> list[dict[str, Any]]:
    return [*_band(line, band), _line(line)]


def _unbroken(dots: Sequence[Dot]) -> Iterator[Dot]:
    """Yield the dots, with an empty one where a line has no run in some releases between."""
    last: Place = ""
    for dot in dots:
        if isinstance(dot.place, int) and isinstance(last, int) and dot.place > last + 1:
            yield Dot(last + 1, None, None, "", 0)
        yield dot
        last = dot.place


def _line(line: DrawnLine) -> dict[str, Any]:
    name, dots = escape(line.name, quote=False), list(_unbroken(line.dots))
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": line.name,
        "x": [dot.place for dot in dots],
        "y": [_rounded(dot.share) for dot in dots],
        "line": {"color": line.look.colour, "dash": line.look.dash, "width": 2},
        "marker": {"color": line.look.colour, "symbol": line.look.marker, "size": 8},
        "text": [f"{share_label(dot.share)}, {escape(dot.text, quote=False)}" for dot in dots],
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
        "customdata": [dot.run for dot in dots],
    }
    if len(line.dots) > 1:
        return trace
    # A single dot has no band.
    bars = error_bars([(dot.share, dot.interval) for dot in line.dots], line.look.colour)
    is_known = any(dot.interval is not None and dot.share is not None for dot in line.dots)
    return trace | {"error_y": bars | {"visible": is_known}}


def _rounded(share: float | None) -> float | None:
    """Round to visible digits, since a page can have thousands of numbers."""
    return None if share is None else round(share, 4)


def _band(line: DrawnLine, opacity: float) -> list[dict[str, Any]]:
    """Draw the intervals as an area if at least two dots have one."""
    known = [(dot.place, dot.interval) for dot in line.dots if dot.interval is not None]
    if len(known) < 2:
        return []
    there = [place for place, _ in known]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [*there, *reversed(there)],
            "y": [
                *(_rounded(interval.high) for _, interval in known),
                *(_rounded(interval.low) for _, interval in reversed(known)),
            ],
            "fill": "toself",
            "fillcolor": line.look.colour,
            "opacity": opacity,
            "meta": "band",
            "line": {"width": 0, "color": line.look.colour},
            "legendgroup": line.name,
            "showlegend": False,
            "hoverinfo": "skip",
        }
    ]


def _rule(mark: Mark, x: str, y: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": x,
        "yref": y,
        "x0": _before(mark.place),
        "x1": _before(mark.place),
        "y0": 0,
        "y1": 1,
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
    }


def _before(place: Place) -> float | str:
    """Return the position of a change: before the first run that it affects."""
    return place - 0.5 if isinstance(place, int) else place


def _heading(name: str, x: str, y: str) -> dict[str, Any]:
    return {
        "text": f"<b>{escape(name, quote=False)}</b>",
        "xref": f"{x} domain",
        "yref": f"{y} domain",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "left",
        "showarrow": False,
    }


def _spans(number: int, rows: int) -> tuple[list[float], list[float]]:
    """Return the horizontal and vertical range of a panel, as shares of the figure."""
    row, column = divmod(number, PANELS_ACROSS)
    width, height = 1 / PANELS_ACROSS, 1 / rows
    left, top = column * width, 1 - row * height
    return [left + 0.04, left + width - 0.01], [top - 0.8 * height, top - 0.12 * height]


def _places(releases: Sequence[str], lines: Sequence[DrawnLine], *, most: int) -> dict[str, Any]:
    style: dict[str, Any] = {"gridcolor": GRID, "automargin": True, "zeroline": False}
    if not releases:
        return style | {"type": "date", "nticks": min(most, MAX_DAYS)} | _times(lines)
    step = -(-len(releases) // most)
    shown = range((len(releases) - 1) % step, len(releases), step)
    return style | {
        "tickvals": list(shown),
        "ticktext": [escape(releases[place], quote=False) for place in shown],
        "range": [-0.6, len(releases) - 0.4],
    }


def _times(lines: Sequence[DrawnLine]) -> dict[str, Any]:
    """Return the settings of a time axis: days, or `MARGIN` around runs within `SHORT`."""
    times = [datetime.fromisoformat(str(dot.place)) for line in lines for dot in line.dots]
    if not times:
        return {}
    first, last = min(times), max(times)
    if last - first > SHORT:
        return {"tickangle": 0, "tickformatstops": DAYS}
    return {"range": [(first - MARGIN).isoformat(), (last + MARGIN).isoformat()]}


def _span(lines: Sequence[DrawnLine]) -> list[float]:
    """Return a range of rates with all intervals of these lines, at least `MIN_SPAN` wide.

    It begins at a multiple of `STEP`, or just below 0.
    """
    dots = [dot for line in lines for dot in line.dots if dot.share is not None]
    if not dots:
        return list(WHOLE)
    ends = [end for dot in dots for end in (dot.interval or (dot.share,)) if end is not None]
    low, high = min(ends), max(ends)
    lacking = max(0.0, MIN_SPAN - (high - low)) / 2
    start = STEP * floor((low - lacking) / STEP + ROUNDING)
    return [start if start > 0 else WHOLE[0], min(WHOLE[1], high + lacking + STEP)]
