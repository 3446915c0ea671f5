"""Plotly figures as plain dicts of data and layout. Pure.

Backgrounds are transparent and fonts have no colour: the page's script sets them by its theme.
Figures have no titles: the page describes them. Labels are escaped user input. Each mark carries
its key as `customdata`, so that a click can filter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from evalhub.display.formatting import clip, percent
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.interval import Interval

Figure = dict[str, Any]

NEUTRAL = "var(--eh-bars)"
ON_FILL, ON_PALE = "var(--eh-on-fill)", "var(--eh-on-pale)"
LONGEST_LABEL = 60

LEGEND_ROW_PX = 20
"""Height of an entry of a legend where its names are long: a line each."""

GRID = "rgba(128,128,128,0.3)"
_CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class OutcomeRow:
    """Counts of results by outcome in a tag or another group."""

    key: str
    label: str
    counts: Mapping[str, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def failure_rate(self) -> float | None:
        """Failure rate in [0, 1] of scored results; None without any."""
        failed = self.counts.get("failed", 0)
        scored = failed + self.counts.get("passed", 0)
        return failed / scored if scored else None


@dataclass(frozen=True)
class RateRow:
    """Failed and scored results of an issue, with the rate's interval.

    `interval` is None if nothing is scored or there are too few clusters.
    """

    key: str
    label: str
    failed: int
    scored: int
    interval: Interval | None

    @property
    def failure_rate(self) -> float | None:
        """Failure rate in [0, 1]; None if nothing is scored."""
        return self.failed / self.scored if self.scored else None


def outcome_pie(counts: Mapping[str, int]) -> Figure:
    """Draw the outcomes as a ring around the pass rate; raise ValueError for an unknown one."""
    present = [name for name in _known(counts) if counts[name]]
    n = sum(counts.values())
    colours = [OUTCOMES[name].colour for name in present]
    ring = {
        "type": "pie",
        "hole": 0.6,
        "sort": False,
        "direction": "clockwise",
        "labels": [OUTCOMES[name].label for name in present],
        "values": [counts[name] for name in present],
        "text": [
            f"{OUTCOMES[name].label}: {counts[name]:,} ({share_label(counts[name] / n)})"
            for name in present
        ],
        "textinfo": "text",
        "hoverinfo": "text",
        "textposition": "outside",
        "automargin": True,
        "customdata": present,
        "marker": {
            "colors": colours,
            "pattern": pattern([OUTCOMES[name].pattern for name in present], colours),
        },
    }
    middle = {"text": _passed(counts), "x": 0.5, "y": 0.5, "showarrow": False}
    notes = [middle | {"font": {"size": 18}}]
    return {"data": [ring], "layout": base_layout(showlegend=False, annotations=notes)}


def _passed(counts: Mapping[str, int]) -> str:
    """Return the pass rate with its counts, in two lines."""
    passed, n = counts.get("passed", 0), counts.get("passed", 0) + counts.get("failed", 0)
    if not n:
        return "none scored"
    return f"<b>{share_label(passed / n)}</b><br>{passed:,} of {n:,}"


def tag_bars(rows: Sequence[OutcomeRow]) -> Figure:
    """Stack the outcomes of each tag, the worst on top; raise ValueError for an unknown one."""
    rows = sorted(rows, key=_worst_first)
    present = [
        name
        for name in OUTCOMES
        if any(_known(row.counts) and row.counts.get(name) for row in rows)
    ]
    return {
        "data": [_stack(name, rows) for name in present],
        "layout": base_layout(
            **bar_layout([f"{label(row.label)} (n = {row.n:,})" for row in rows]),
            barmode="stack",
            showlegend=True,
            legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
            xaxis=axis("Results"),
        ),
    }


def issue_bars(rows: Sequence[RateRow]) -> Figure:
    """Draw the failure rate of each issue with its interval, and k of n in its label.

    The highest rate is on top; issues without scored results come last, without a bar.
    """
    rows = sorted(rows, key=_worst_first)
    rates = [row.failure_rate for row in rows]
    texts = [
        f"{label(row.label)} (none scored)"
        if row.failure_rate is None
        else f"{label(row.label)} ({row.failed:,} of {row.scored:,})"
        for row in rows
    ]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(rows))),
        "x": rates,
        # Plotly draws an error bar of no width where there is none.
        "error_x": error_bars(
            [(row.failure_rate, row.interval) for row in rows], OUTCOMES["failed"].colour
        )
        | {"visible": any(row.interval for row in rows)},
        "hovertext": texts,
        "hoverinfo": "text",
        "customdata": [row.key for row in rows],
        # Paler than its error bars, which lie on it.
        "marker": {"color": OUTCOMES["failed"].colour, "opacity": 0.5},
    }
    layout = base_layout(
        **bar_layout(texts),
        showlegend=False,
        xaxis=axis("Failure rate of scored results", range=[0, 1.04], tickformat=".0%"),
    )
    return {"data": [bars], "layout": layout}


def heat_map(
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    *,
    scale: Sequence[tuple[float, str]],
    text_colour: Callable[[float], str],
    **layout: Any,
) -> Figure:
    """Draw a cell with its text for each value in [0, 1]; one without a value stays empty.

    Args:
        scale: Colours at values, from 0 to 1.
        text_colour: The colour of the text on a value.
        layout: Height, legend and the side of the columns' names, `side`.
    """

    def names(titles: Sequence[str], **options: Any) -> dict[str, Any]:
        places = list(range(len(titles)))
        shown = {"tickvals": places, "ticktext": list(titles), "automargin": True}
        return {**shown, "showgrid": False, "zeroline": False, **options}

    cells = {
        "type": "heatmap",
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "z": [list(row) for row in values],
        "zmin": 0,
        "zmax": 1,
        "colorscale": [list(stop) for stop in scale],
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverinfo": "skip",
    }
    notes = [
        {
            "x": x,
            "y": y,
            "text": texts[y][x],
            "showarrow": False,
            "font": {"color": text_colour(value)},
        }
        for y, line in enumerate(values)
        for x, value in enumerate(line)
        if value is not None
    ]
    side = layout.pop("side", "bottom")
    found = base_layout(
        **layout,
        xaxis=names(columns, side=side),
        yaxis=names(rows, autorange="reversed"),
        annotations=notes,
    )
    return {"data": [cells], "layout": found}


def _known(counts: Mapping[str, int]) -> list[str]:
    if strange := sorted(set(counts) - set(OUTCOMES)):
        raise ValueError(f"unknown outcomes {strange}; expected {', '.join(OUTCOMES)}")
    return [name for name in OUTCOMES if name in counts]


def _worst_first(row: OutcomeRow | RateRow) -> tuple[float, str]:
    rate = row.failure_rate
    return (1.0 if rate is None else -rate, row.label)


def label(text: str, length: int = LONGEST_LABEL) -> str:
    """Cut and escape user input as a label."""
    return escape(clip(text, length), quote=False)


def share_label(share: float | None, digits: int = 1) -> str:
    """Format a share as a label: >99.9% is text, no markup."""
    return escape(percent(share, digits), quote=False)


def on_fill(colour: str) -> str:
    """Return the colour of text on a fill, with a contrast of at least 4.5:1."""
    is_pale = colour in (OUTCOMES["failed"].colour, OUTCOMES["pending"].colour)
    return ON_PALE if is_pale else ON_FILL


def pattern(shape: Any, background: Any) -> dict[str, Any]:
    """Return a pattern of thin white marks, which keeps the colour."""
    return {
        "shape": shape,
        "bgcolor": background,
        "fgcolor": ON_FILL,
        "fgopacity": 0.6,
        "solidity": 0.2,
    }


def _stack(name: str, rows: Sequence[OutcomeRow]) -> dict[str, Any]:
    counts = [row.counts.get(name, 0) for row in rows]
    return {
        "type": "bar",
        "orientation": "h",
        "name": OUTCOMES[name].label,
        "y": list(range(len(rows))),
        "x": counts,
        "text": [f"{count:,}" if count else "" for count in counts],
        "textposition": "inside",
        "insidetextfont": {"color": on_fill(OUTCOMES[name].colour)},
        "insidetextanchor": "middle",
        "hovertext": [
            f"{label(row.label)}: {count:,} of {row.n:,} {OUTCOMES[name].label.lower()}"
            for row, count in zip(rows, counts, strict=True)
        ],
        "hoverinfo": "text",
        "customdata": [[row.key, name] for row in rows],
        "marker": {
            "color": OUTCOMES[name].colour,
            "pattern": pattern(OUTCOMES[name].pattern, OUTCOMES[name].colour),
        },
    }


def error_bars(
    rates: Sequence[tuple[float | None, Interval | None]], colour: str
) -> dict[str, Any]:
    """Draw the interval of each rate that has one."""
    spans = [
        (None, None)
        if rate is None or interval is None
        else (rate - interval.low, interval.high - rate)
        for rate, interval in rates
    ]
    return {
        "type": "data",
        "symmetric": False,
        "arrayminus": [below for below, _ in spans],
        "array": [above for _, above in spans],
        "color": colour,
    }


def axis(title: str, **options: Any) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "gridcolor": GRID,
        "zerolinecolor": GRID,
        "automargin": True,
        **options,
    }


def bar_layout(labels: Sequence[str]) -> dict[str, Any]:
    """Lay out labelled rows by position, the first on top: cut labels may be equal."""
    return {
        "height": 90 + 28 * max(len(labels), 1),
        "bargap": 0.25,
        "yaxis": {
            "tickvals": list(range(len(labels))),
            "ticktext": list(labels),
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
    }


def base_layout(**options: Any) -> dict[str, Any]:
    return {
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "margin": {"l": 16, "r": 16, "t": 16, "b": 16},
        **options,
    }
