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
    in_the_middle,
    label,
    on_fill,
    pattern,
    ring,
)
from evalhub.display.formatting import points
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from reports.compare.rule import Kind, Tally
from reports.run.figure import outcome_ring
from runs.figures.rate import Rate

MAX_NAME = 26
"""Characters of a name in a figure."""

COLOURS: Mapping[str, str] = {
    Kind.WORSE: OUTCOMES["failed"].colour,
    Kind.BETTER: OUTCOMES["passed"].colour,
    Kind.SAME: OUTCOMES["pending"].colour,
    Kind.ERROR: OUTCOMES["error"].colour,
    Kind.UNSCORED: OUTCOMES["unscored"].colour,
}
"""Better is coloured as passed, worse as failed; kinds that are not compared are neutral."""

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

PATTERNS: Mapping[str, str] = {Kind.WORSE: "/", Kind.ERROR: "x", Kind.UNSCORED: "\\"}
"""A second mark beside colour, for print in black and white."""


class NetRow(NamedTuple):
    """A net change, in [-1, 1], with its interval; `word` is its conclusion."""

    name: str
    net: float
    interval: Interval | None
    word: Word | None


def net_changes(rows: Sequence[NetRow]) -> Figure:
    """Draw the net change of each row with its interval, beside the line of no change."""
    ends = [end for row in rows for end in (row.net, *(row.interval or ()))]
    span = max(MIN_SPAN, *(1.08 * abs(end) for end in ends))
    layout = base_layout(
        **bar_layout([label(row.name) for row in rows]),
        showlegend=False,
        shapes=[ZERO],
        xaxis=axis("Fewer passed ← → more", range=[-span, span], tickformat=".0%"),
    )
    return {"data": [_net(place, row) for place, row in enumerate(rows)], "layout": layout}


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


def became_ring(counts: Sequence[tuple[str, str, int]]) -> Figure:
    """Draw a ring of (kind, name, count) with the total in its middle."""
    present = [(kind, name, n) for kind, name, n in counts if n]
    total = sum(n for _, _, n in present)
    colours = [COLOURS.get(kind, NEUTRAL) for kind, _, _ in present]
    found = ring(
        [escape(name, quote=False) for _, name, _ in present],
        [n for _, _, n in present],
        [f"{escape(name, quote=False)}: {n:,}" for _, name, n in present],
        colours,
        [PATTERNS.get(kind, "") for kind, _, _ in present],
    )
    return {
        "data": [found],
        "layout": base_layout(
            height=300, showlegend=False, annotations=[in_the_middle(f"n = {total:,}")]
        ),
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
        xaxis=axis(
            "Worse ← tests → better", range=[-1.15 * most, 1.15 * most], showticklabels=False
        ),
    )
    return {"data": [worse, better], "layout": layout}


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


def outcome_rings(runs: Sequence[tuple[str, Mapping[str, int]]]) -> Figure:
    """Draw a ring of outcomes for each run, given as (name, counts), its name below."""
    across = 1 if len(runs) < 2 else 2
    rows = -(-len(runs) // across)
    data, names = [], []
    for number, (name, counts) in enumerate(runs):
        row, column = divmod(number, across)
        left, top = column / across, 1 - row / rows
        found = outcome_ring(counts)
        middle = found["layout"]["annotations"][0]
        domain = {"x": [left + 0.01, left + 1 / across - 0.01], "y": [top - 0.84 / rows, top]}
        data.append(found["data"][0] | {"domain": domain})
        centre = {"x": left + 0.5 / across, "xanchor": "center"}
        names += [
            middle | centre | {"y": top - 0.42 / rows, "yanchor": "middle", "font": {"size": 13}},
            {
                "text": f"<b>{label(name, MAX_NAME)}</b>",
                "y": top - 0.9 / rows,
                "yanchor": "top",
                "showarrow": False,
                "font": {"size": 11},
                **centre,
            },
        ]
    return {
        "data": data,
        "layout": base_layout(
            height=240 * max(rows, 1) + 30,
            showlegend=True,
            legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
            annotations=names,
        ),
    }


class RateBars(NamedTuple):
    """The pass rates of one run or family, one for each tag; `shape` is a pattern."""

    name: str
    colour: str
    shape: str
    rates: Sequence[Rate | None]
    texts: Sequence[str]


def grouped_rates(tags: Sequence[str], runs: Sequence[RateBars]) -> Figure:
    """Draw a bar for each tag and run, with its interval."""
    layout = base_layout(
        barmode="group",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        xaxis=axis("Pass rate of scored results", range=[0, 1.04], tickformat=".0%"),
        **bar_layout([label(tag, MAX_NAME) for tag in tags])
        | {"height": 100 + len(tags) * (14 + 13 * max(len(runs), 1)), "bargap": 0.3},
    )
    return {"data": [_rate_bars(run) for run in runs], "layout": layout}


def _rate_bars(run: RateBars) -> dict[str, Any]:
    rates = [(rate.share, rate.interval) if rate else (None, None) for rate in run.rates]
    return {
        "type": "bar",
        "orientation": "h",
        "name": escape(run.name, quote=False),
        "y": list(range(len(run.rates))),
        "x": [share for share, _ in rates],
        "error_x": error_bars(rates, run.colour) | {"thickness": 1.5, "width": 2},
        "hovertext": [escape(text, quote=False) for text in run.texts],
        "hoverinfo": "text",
        # Paler than its interval, which lies on it.
        "marker": {
            "color": run.colour,
            "opacity": 0.55,
            "pattern": pattern(run.shape, run.colour),
        },
    }
