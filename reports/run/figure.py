"""Figures that only the reports draw, as plain Plotly dicts. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from evalhub.display.charts import (
    NEUTRAL,
    Figure,
    axis,
    base_layout,
    on_fill,
    outcome_pie,
    share_label,
)


def outcome_ring(counts: Mapping[str, int]) -> Figure:
    """Draw the outcomes as a large ring without names: the table beside it has them."""
    figure = outcome_pie(counts)
    ring = figure["data"][0]
    total = sum(ring["values"])
    ring |= {
        "texttemplate": [
            "" if name == "pending" else share_label(n / total, 0)
            for name, n in zip(ring["customdata"], ring["values"], strict=True)
        ],
        "textposition": "inside",
        "insidetextorientation": "horizontal",
        "hovertext": ring["text"],
        "insidetextfont": {"color": [on_fill(each) for each in ring["marker"]["colors"]]},
    }
    return figure


def binned_times(bars: Sequence[tuple[int, int, int]]) -> Figure:
    """Draw a histogram of times already counted: (from ms, to ms, n)."""
    return _binned(
        [
            (f"{low}–{high} ms" if high < 500 else f"{low / 1000:g}–{high / 1000:g} s", n)
            for low, high, n in bars
        ]
    )


def binned_costs(free: int, bars: Sequence[tuple[Decimal, Decimal, int]]) -> Figure:
    """Draw a histogram of costs already counted, (from USD, to USD, n), the free ones first."""
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
        yaxis=axis("Answers", rangemode="tozero"),
    )
    return {"data": [data], "layout": layout}
