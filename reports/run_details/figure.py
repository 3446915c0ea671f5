"""Runs beside each other as plain Plotly figures. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from evalhub.charts import Figure, axis, bar_layout, base_layout, label
from evalhub.statistics.interval import Interval
from reports.documents.model_lines import LineStyle
from reports.run.figure import outcome_ring

MAX_NAME = 26
"""Characters of a name in a figure."""


@dataclass(frozen=True)
class Bars:
    """The pass rates of one run, one for each tag; None: none decided."""

    name: str
    look: LineStyle
    rates: Sequence[tuple[float, Interval | None] | None]
    texts: Sequence[str]


def rings(runs: Sequence[tuple[str, Mapping[str, int]]]) -> Figure:
    """Draw a ring of outcomes for each run, given as (name, counts), its name below."""
    across = 1 if len(runs) < 2 else 2
    rows = -(-len(runs) // across)
    data, names = [], []
    for number, (name, counts) in enumerate(runs):
        row, column = divmod(number, across)
        left, top = column / across, 1 - row / rows
        ring = outcome_ring(counts)
        middle = ring["layout"]["annotations"][0]
        domain = {"x": [left + 0.01, left + 1 / across - 0.01], "y": [top - 0.84 / rows, top]}
        data.append(ring["data"][0] | {"domain": domain})
        centre = {"x": left + 0.5 / across, "xanchor": "center"}
        names += [
            middle | centre | {"y": top - 0.42 / rows, "yanchor": "middle", "font": {"size": 13}},
            {
                "text": f"<b>{label(name, MAX_NAME)}</b>",
                "y": top - 0.9 / rows,
                "yanchor": "top",
                "showarrow": False,
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


def grouped_rates(tags: Sequence[str], runs: Sequence[Bars]) -> Figure:
    """Draw a bar for each tag and run, with its interval."""
    layout = base_layout(
        barmode="group",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        xaxis=axis("Pass rate of scored results", range=[0, 1.04], tickformat=".0%"),
        **bar_layout([label(tag, MAX_NAME) for tag in tags])
        | {"height": 100 + len(tags) * (14 + 13 * max(len(runs), 1)), "bargap": 0.3},
    )
    return {"data": [_bars(run) for run in runs], "layout": layout}


def _bars(run: Bars) -> dict[str, object]:
    spans = [
        (rate[0] - rate[1].low, rate[1].high - rate[0]) if rate and rate[1] else (None, None)
        for rate in run.rates
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "name": escape(run.name, quote=False),
        "y": list(range(len(run.rates))),
        "x": [None if rate is None else rate[0] for rate in run.rates],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "arrayminus": [below for below, _ in spans],
            "array": [above for _, above in spans],
            "color": run.look.colour,
            "thickness": 1.5,
            "width": 2,
        },
        "hovertext": [escape(text, quote=False) for text in run.texts],
        "hoverinfo": "text",
        # Paler than its interval, which lies on it.
        "marker": {"color": run.look.colour, "opacity": 0.55},
    }
