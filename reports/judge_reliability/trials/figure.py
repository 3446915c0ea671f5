"""The distribution of each judge's scores on true and on false claims. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalhub.display.charts import Figure, axis, bar_layout, base_layout, label

SHADES = ("#D55E00", "#E58A46", "#F2B98F", "#D9D9D9", "#9CC3E0", "#4F97C9", "#0B4A9E")
"""Of scores from 1 to 7: readable without telling red from green."""

DARK = (0, 6)
"""Places of the shades that need light text."""


class Scores(NamedTuple):
    """Numbers of claims by score from 1 to 7; a metric's range of 0 to 1 in seven equal parts."""

    name: str
    counts: Mapping[int, int]

    @property
    def n(self) -> int:
        return sum(self.counts.values())


def bin_of(score: float, *, is_metric: bool) -> int:
    """Return the score from 1 to 7 as which it is drawn."""
    place = 1 + int(score * 7) if is_metric else round(score)
    return min(7, max(1, place))


def score_bars(rows: Sequence[Scores]) -> Figure:
    """Stack the shares of scores, a row for a judge's true and one for its false claims."""
    labels = [f"{label(row.name)} (n = {row.n:,})" for row in rows]
    return {
        "data": [_stack(score, rows) for score in range(1, 8)],
        "layout": base_layout(
            **bar_layout(labels),
            barmode="stack",
            showlegend=True,
            legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
            xaxis=axis("Share of claims", range=[0, 1], tickformat=".0%"),
        ),
    }


def _stack(score: int, rows: Sequence[Scores]) -> dict[str, Any]:
    counts = [row.counts.get(score, 0) for row in rows]
    colour = SHADES[score - 1]
    return {
        "type": "bar",
        "orientation": "h",
        "name": str(score),
        "y": list(range(len(rows))),
        "x": [count / row.n if row.n else 0 for count, row in zip(counts, rows, strict=True)],
        "text": [f"{count:,}" if count else "" for count in counts],
        "textposition": "inside",
        "insidetextfont": {"color": "#FFFFFF" if score - 1 in DARK else "#000000"},
        "insidetextanchor": "middle",
        "hovertext": [
            f"{label(row.name)}: score {score} on {count:,} of {row.n:,}"
            for row, count in zip(rows, counts, strict=True)
        ],
        "hoverinfo": "text",
        "marker": {"color": colour},
    }
