"""Figures of a comparison as plain Plotly dicts. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from evalhub.charts import (
    NEUTRAL,
    Figure,
    axis,
    bar_layout,
    base_layout,
    in_the_middle,
    label,
    on_fill,
    pattern,
    ring,
)
from evalhub.outcomes import OUTCOMES
from reports.compare.rule import Kind, Tally

COLOURS: Mapping[str, str] = {
    Kind.WORSE: OUTCOMES["failed"].colour,
    Kind.BETTER: OUTCOMES["passed"].colour,
    Kind.SAME: OUTCOMES["pending"].colour,
    Kind.ERROR: OUTCOMES["error"].colour,
    Kind.UNSCORED: OUTCOMES["unscored"].colour,
}
"""Better is coloured as passed, worse as failed; kinds that are not compared are neutral."""

PATTERNS: Mapping[str, str] = {Kind.WORSE: "/", Kind.ERROR: "x", Kind.UNSCORED: "\\"}
"""A second mark beside colour, for print in black and white."""


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
