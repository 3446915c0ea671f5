"""Figures of a comparison as plain Plotly dicts. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from evalhub.display.charts import (
    GRID,
    NEUTRAL,
    Figure,
    axis,
    bar_layout,
    base_layout,
    error_bars,
    label,
    on_fill,
    pattern,
)
from evalhub.display.formatting import points
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from reports.compare.rule import Kind, Tally
from runs.figures.rate import Rate

MAX_NAME = 26
"""Characters of a name in a figure."""

COLOURS: Mapping[str, str] = {
    Kind.WORSE: OUTCOMES["failed"].colour,
    Kind.BETTER: OUTCOMES["passed"].colour,
}
"""Better is coloured as passed, worse as failed."""

WORD_COLOURS: Mapping[Word, str] = {
    Word.WORSE: OUTCOMES["failed"].colour,
    Word.MIXED: OUTCOMES["failed"].colour,
    Word.BETTER: OUTCOMES["passed"].colour,
}
"""Colours of sure changes; others are neutral."""

MIN_SPAN = 0.05
"""Least half width of the axis of net changes."""

ZERO = {
    "type": "line",
    "xref": "x",
    "yref": "paper",
    "x0": 0,
    "x1": 0,
    "y0": 0,
    "y1": 1,
    "line": {"color": GRID, "width": 2},
}

PATTERNS: Mapping[str, str] = {Kind.WORSE: "/"}
"""A second mark beside colour, for print in black and white."""


AXIS_END = 0.76
"""Where the axis of net changes ends; the conclusions are on its right."""


class NetRow(NamedTuple):
    """A net change, in [-1, 1], with its interval; `word` is its conclusion, `said` in words."""

    name: str
    net: float
    interval: Interval | None
    word: Word | None
    said: str = ""


def net_changes(rows: Sequence[NetRow]) -> Figure:
    """Draw each net change with its interval and conclusion, beside the line of no change."""
    ends = [end for row in rows for end in (row.net, *(row.interval or ()))]
    span = max(MIN_SPAN, *(1.08 * abs(end) for end in ends))
    layout = base_layout(
        **bar_layout([label(row.name) for row in rows]),
        showlegend=False,
        shapes=[ZERO],
        annotations=[_said(place, row) for place, row in enumerate(rows) if row.said],
        xaxis=axis(
            "Fewer passed ← → more",
            range=[-span, span],
            tickformat=".0%",
            nticks=7,
            tickangle=0,
            domain=[0, AXIS_END],
        ),
    )
    return {"data": [_net(place, row) for place, row in enumerate(rows)], "layout": layout}


def _said(place: int, row: NetRow) -> dict[str, Any]:
    return {
        "text": f"<b>{row.said}</b>" if row.word in WORD_COLOURS else row.said,
        "xref": "x domain",
        "x": 1.02,
        "xanchor": "left",
        "y": place,
        "showarrow": False,
    }


def _net(place: int, row: NetRow) -> dict[str, Any]:
    colour = WORD_COLOURS.get(row.word, NEUTRAL) if row.word else NEUTRAL
    return {
        "type": "scatter",
        "mode": "markers",
        "name": label(row.name),
        "x": [row.net],
        "y": [place],
        "error_x": error_bars([(row.net, row.interval)], colour) | {"thickness": 2, "width": 5},
        "hovertext": [f"{label(row.name)}: {points(row.net)}"],
        "hoverinfo": "text",
        "marker": {"symbol": "diamond", "size": 12, "color": colour},
    }


def changes_by_line(lines: Sequence[tuple[str, Tally]]) -> Figure:
    """Draw bars of worse tests (to the left) and better tests (to the right) by row."""
    labels = [f"{label(name)} (n = {tally.n:,})" for name, tally in lines]
    worse = _bars("Worse", Kind.WORSE, [tally.worse for _, tally in lines], labels, -1)
    better = _bars("Better", Kind.BETTER, [tally.better for _, tally in lines], labels, 1)
    most = max((max(tally.worse, tally.better) for _, tally in lines), default=1) or 1
    layout = base_layout(
        **bar_layout(labels),
        barmode="relative",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom"},
        xaxis=axis("Worse ← tests → better", range=[-1.15 * most, 1.15 * most], **_counts(most)),
    )
    return {"data": [worse, better], "layout": layout}


def _counts(most: int) -> dict[str, Any]:
    """Label both halves of an axis with counts that have no sign."""
    step = -(-most // 3)
    places = [n for n in range(-most, most + 1) if n % step == 0]
    return {"tickvals": places, "ticktext": [f"{abs(n):,}" for n in places]}


def _bars(
    name: str, kind: str, counts: Sequence[int], labels: Sequence[str], sign: int
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(range(len(counts))),
        "x": [sign * n for n in counts],
        "text": [f"{n:,}" if n else "" for n in counts],
        "textposition": "auto",
        "insidetextfont": {"color": on_fill(COLOURS[kind])},
        "hovertext": [
            f"{label}: {n:,} {name.lower()}" for label, n in zip(labels, counts, strict=True)
        ],
        "hoverinfo": "text",
        "marker": {
            "color": COLOURS[kind],
            "pattern": pattern(PATTERNS.get(kind, ""), COLOURS[kind]),
        },
    }


class RateDots(NamedTuple):
    """The pass rates of one run or family, one for each tag; `texts` are shown on hover."""

    name: str
    colour: str
    marker: str
    rates: Sequence[Rate | None]
    texts: Sequence[str]


def dumbbells(tags: Sequence[str], runs: Sequence[RateDots]) -> Figure:
    """Draw a dot for each tag and run, and for each tag a line from the lowest to the highest."""
    layout = base_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        xaxis=axis("Pass rate of scored results", range=[-0.03, 1.03], tickformat=".0%"),
        **bar_layout([label(tag, MAX_NAME) for tag in tags]),
    )
    return {"data": [_bars_between(runs), *map(_dots, runs)], "layout": layout}


def _bars_between(runs: Sequence[RateDots]) -> dict[str, Any]:
    """Draw the lines of all tags as one trace, with gaps."""
    x: list[float | None] = []
    y: list[int | None] = []
    for place, rates in enumerate(zip(*(run.rates for run in runs), strict=True)):
        shares = [rate.share for rate in rates if rate and rate.share is not None]
        if shares:
            x += [min(shares), max(shares), None]
            y += [place, place, None]
    line = {"color": NEUTRAL, "width": 2}
    found = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line}
    return found | {"hoverinfo": "skip", "showlegend": False}


def _dots(run: RateDots) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(run.name, quote=False),
        "x": [rate.share if rate else None for rate in run.rates],
        "y": list(range(len(run.rates))),
        "hovertext": [escape(text, quote=False) for text in run.texts],
        "hoverinfo": "text",
        "marker": {"symbol": run.marker, "size": 11, "color": run.colour},
    }
