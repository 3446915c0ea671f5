"""Figures that only the reports draw, as plain Plotly dicts. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from evalhub.charts import GRID, NEUTRAL, ON_FILL, Figure, base_layout, outcome_pie


def outcome_ring(counts: Mapping[str, int]) -> Figure:
    """The outcomes as a ring beside a table: names stand there, so that the ring can be large."""
    figure = outcome_pie(counts)
    figure["data"][0] |= {
        "texttemplate": [
            "" if name == "pending" else "%{percent:.0%}"
            for name in figure["data"][0]["customdata"]
        ],
        "textposition": "inside",
        "insidetextorientation": "horizontal",
        "hovertext": figure["data"][0]["text"],
        "insidetextfont": {"color": ON_FILL},
    }
    return figure


def binned_times(bars: Sequence[tuple[int, int, int]]) -> Figure:
    """A histogram of times already counted: (from ms, to ms, n), bounds growing by steps."""
    return _binned([(_span(low, high), n) for low, high, n in bars])


def binned_costs(free: int, bars: Sequence[tuple[Decimal, Decimal, int]]) -> Figure:
    """A histogram of costs already counted: (from USD, to USD, n), those that cost nothing first.

    Args:
        free: How many cost nothing; they have no bar where there are none.
    """
    paid = [(f"${low.normalize():f}–{high.normalize():f}", n) for low, high, n in bars]
    return _binned([("free", free), *paid] if free else paid)


def _binned(bars: Sequence[tuple[str, int]]) -> Figure:
    data = {
        "type": "bar",
        "x": [label for label, _ in bars],
        "y": [n for _, n in bars],
        "hovertext": [f"{label}: {n:,}" for label, n in bars],
        "hoverinfo": "text",
        "marker": {"color": NEUTRAL},
    }
    layout = base_layout(
        height=220,
        bargap=0.08,
        showlegend=False,
        xaxis={"automargin": True, "type": "category"},
        yaxis={
            "title": {"text": "Answers"},
            "gridcolor": GRID,
            "automargin": True,
            "rangemode": "tozero",
        },
    )
    return {"data": [data], "layout": layout}


def _span(low: int, high: int) -> str:
    return f"{low}–{high} ms" if high < 500 else f"{low / 1000:g}–{high / 1000:g} s"
