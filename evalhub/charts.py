"""Numbers to Plotly figures, as plain dicts of data and layout.

Backgrounds are transparent and no font has a colour: the page's script sets those by its theme.
Nothing has a title: the page says what a figure shows. Labels come from people, so they are
escaped. Each mark carries its key as `customdata`, by which a click can filter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from evalhub.statistics.interval import Interval

Figure = dict[str, Any]

OUTCOME_COLOURS = {
    "passed": "#1B7A57",
    "failed": "#F4620A",
    "unscored": "#8434F5",
    "error": "#B94FC4",
    "pending": "#C3C7CF",
}
"""What each outcome looks like everywhere. Told apart with any colour vision; all but pending,
which is to recede, stand out (3 : 1) from white and from the dark theme's background."""

# A second mark beside colour, for print in black and white.
OUTCOME_PATTERNS = {"passed": "", "failed": "", "unscored": "/", "error": "x", "pending": "."}

NEUTRAL = "#6B7A90"
MOST_BINS = 30
LONGEST_LABEL = 60

GRID = "rgba(128,128,128,0.3)"
_CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class OutcomeRow:
    """How many results of one tag (or any other group) had each outcome."""

    key: str
    label: str
    counts: Mapping[str, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())

    @property
    def failure_rate(self) -> float | None:
        """In [0, 1], of what was judged; None where nothing was."""
        failed = self.counts.get("failed", 0)
        judged = failed + self.counts.get("passed", 0)
        return failed / judged if judged else None


@dataclass(frozen=True)
class RateRow:
    """How many of the judged results of one issue failed, and the interval of that rate.

    `interval` is None where there is none: nothing judged, or too few clusters.
    """

    key: str
    label: str
    failed: int
    judged: int
    interval: Interval | None

    @property
    def failure_rate(self) -> float | None:
        """In [0, 1]; None where nothing was judged."""
        return self.failed / self.judged if self.judged else None


def outcome_pie(counts: Mapping[str, int]) -> Figure:
    """A ring of the outcomes that occur, each with its count and share, and n in the middle.

    Raises:
        ValueError: A count has the name of no outcome.
    """
    present = [name for name in _known(counts) if counts[name]]
    n = sum(counts.values())
    ring = {
        "type": "pie",
        "hole": 0.6,
        "sort": False,
        "direction": "clockwise",
        "labels": [name.capitalize() for name in present],
        "values": [counts[name] for name in present],
        "text": [f"{name}: {counts[name]:,} ({counts[name] / n:.1%})" for name in present],
        "textinfo": "text",
        "hoverinfo": "text",
        "textposition": "outside",
        "automargin": True,
        "customdata": present,
        "marker": {
            "colors": [OUTCOME_COLOURS[name] for name in present],
            "pattern": _pattern(
                [OUTCOME_PATTERNS[name] for name in present],
                [OUTCOME_COLOURS[name] for name in present],
            ),
        },
    }
    middle = {"text": f"n = {n:,}", "x": 0.5, "y": 0.5, "showarrow": False, "font": {"size": 18}}
    return {"data": [ring], "layout": base_layout(showlegend=False, annotations=[middle])}


def tag_bars(rows: Sequence[OutcomeRow]) -> Figure:
    """The outcomes of each tag as one stacked bar, the highest failure rate on top.

    Raises:
        ValueError: A count has the name of no outcome.
    """
    rows = sorted(rows, key=_worst_first)
    present = [
        name
        for name in OUTCOME_COLOURS
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
    """The failure rate of each issue, k of n in its label and the interval as error bars.

    The highest rate is on top; issues of which nothing was judged come last, without a bar.
    """
    rows = sorted(rows, key=_worst_first)
    rates = [row.failure_rate for row in rows]
    texts = [_rate_text(row) for row in rows]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(rows))),
        "x": rates,
        # Plotly draws an error bar of no width where there is none.
        "error_x": _error_bars(rows) | {"visible": any(row.interval for row in rows)},
        "hovertext": texts,
        "hoverinfo": "text",
        "customdata": [row.key for row in rows],
        # Paler than its error bars, which lie on it.
        "marker": {"color": OUTCOME_COLOURS["failed"], "opacity": 0.5},
    }
    layout = base_layout(
        **bar_layout(texts),
        showlegend=False,
        xaxis=axis("Failed, of those judged", range=[0, 1.04], tickformat=".0%"),
    )
    return {"data": [bars], "layout": layout}


def latency_histogram(values_ms: Sequence[float | None]) -> Figure:
    """How long answers took, in milliseconds; None was not measured and is counted apart."""
    return _histogram(values_ms, "Latency in ms", tickformat=",d")


def cost_histogram(values_usd: Sequence[float | None]) -> Figure:
    """What results cost, in US dollars; None was not measured and is counted apart."""
    return _histogram(values_usd, "Cost in USD")


def _known(counts: Mapping[str, int]) -> list[str]:
    """The outcomes counted, in the order in which they are always shown."""
    if strange := sorted(set(counts) - set(OUTCOME_COLOURS)):
        raise ValueError(f"{strange} are no outcomes; expected {', '.join(OUTCOME_COLOURS)}")
    return [name for name in OUTCOME_COLOURS if name in counts]


def _worst_first(row: OutcomeRow | RateRow) -> tuple[float, str]:
    rate = row.failure_rate
    return (1.0 if rate is None else -rate, row.label)


def label(text: str) -> str:
    """A text of people as a label: not too long, and nothing in it is markup."""
    short = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return escape(short, quote=False)


def _pattern(shape: Any, background: Any) -> dict[str, Any]:
    """Thin white marks, which leave the colour what it is."""
    return {
        "shape": shape,
        "bgcolor": background,
        "fgcolor": "#FFFFFF",
        "fgopacity": 0.6,
        "solidity": 0.2,
    }


def _stack(name: str, rows: Sequence[OutcomeRow]) -> dict[str, Any]:
    counts = [row.counts.get(name, 0) for row in rows]
    return {
        "type": "bar",
        "orientation": "h",
        "name": name.capitalize(),
        "y": list(range(len(rows))),
        "x": counts,
        "text": [f"{count:,}" if count else "" for count in counts],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "hovertext": [
            f"{label(row.label)}: {count:,} of {row.n:,} {name}"
            for row, count in zip(rows, counts, strict=True)
        ],
        "hoverinfo": "text",
        "customdata": [[row.key, name] for row in rows],
        "marker": {
            "color": OUTCOME_COLOURS[name],
            "pattern": _pattern(OUTCOME_PATTERNS[name], OUTCOME_COLOURS[name]),
        },
    }


def _rate_text(row: RateRow) -> str:
    if row.failure_rate is None:
        return f"{label(row.label)} (none judged)"
    return f"{label(row.label)} ({row.failed:,} of {row.judged:,})"


def _error_bars(rows: Sequence[RateRow]) -> dict[str, Any]:
    spans = [
        (None, None)
        if row.interval is None or row.failure_rate is None
        else (row.failure_rate - row.interval.low, row.interval.high - row.failure_rate)
        for row in rows
    ]
    return {
        "type": "data",
        "symmetric": False,
        "arrayminus": [below for below, _ in spans],
        "array": [above for _, above in spans],
        "color": OUTCOME_COLOURS["failed"],
    }


def _histogram(values: Sequence[float | None], name: str, **options: Any) -> Figure:
    """Counted here and not in the browser, so that a page stays small however many there are."""
    measured = [value for value in values if value is not None]
    if not measured:
        return _nothing(f"{name}: nothing measured")
    edges, counts = _bins(measured)
    width = edges[1] - edges[0]
    bars = {
        "type": "bar",
        "x": [edge + width / 2 for edge in edges[:-1]],
        "y": counts,
        "width": width,
        "hovertext": [
            f"{low:,.6g} to {low + width:,.6g}: {count:,}"
            for low, count in zip(edges, counts, strict=False)
        ],
        "hoverinfo": "text",
        "customdata": [[low, high] for low, high in pairwise(edges)],
        "marker": {"color": NEUTRAL},
    }
    missing = len(values) - len(measured)
    title = f"{name} (n = {len(measured):,}" + (f", {missing:,} not measured)" if missing else ")")
    layout = base_layout(
        showlegend=False,
        bargap=0,
        xaxis=axis(title, **options),
        yaxis=axis("Results", rangemode="tozero"),
    )
    return {"data": [bars], "layout": layout}


def _bins(values: Sequence[float]) -> tuple[list[float], list[int]]:
    """Edges at round numbers, one more than counts; each bin holds low <= value < high."""
    width = _round_width(min(values), max(values))
    # Rounded first: 0.3 / 0.1 is a little less than 3.
    steps = [floor(round(value / width, 9)) for value in values]
    first = min(steps)
    counts = [0] * (max(steps) - first + 1)
    for step in steps:
        counts[step - first] += 1
    return [(first + step) * width for step in range(len(counts) + 1)], counts


def _round_width(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that the values take at most `MOST_BINS` bins."""
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** ceil(log10(span / (MOST_BINS - 1)))
    fine = [power * step for step in (0.1, 0.2, 0.5, 1.0)]
    return next(width for width in fine if span / width <= MOST_BINS - 1 or width == fine[-1])


def _nothing(text: str) -> Figure:
    hidden = {"visible": False}
    note = {"text": text, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
    return {"data": [], "layout": base_layout(xaxis=hidden, yaxis=hidden, annotations=[note])}


def axis(title: str, **options: Any) -> dict[str, Any]:
    """An axis with a title, in the house's look."""
    return {
        "title": {"text": title},
        "gridcolor": GRID,
        "zerolinecolor": GRID,
        "automargin": True,
        **options,
    }


def bar_layout(labels: Sequence[str]) -> dict[str, Any]:
    """Labelled rows, the first on top: by position, since two labels may be alike once cut."""
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
    """What all figures have in common, and these options."""
    return {
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "margin": {"l": 16, "r": 16, "t": 16, "b": 16},
        **options,
    }
