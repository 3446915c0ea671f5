"""The strip of an issue: its outcome with each model in each release, as a plain Plotly figure.

Pure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalhub.display.charts import LEGEND_ROW_PX, Figure, heat_map, label, on_fill
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.rates.behaviour_outcome import Word

MAX_NAME, MIN_COLUMNS = 34, 6

SQUARES: Mapping[Word, tuple[float, str, str]] = {
    Word.FAILS: (0.0, OUTCOMES["failed"].colour, "Fails"),
    Word.CANNOT_TELL: (0.5, OUTCOMES["pending"].colour, "Cannot tell"),
    Word.PASSES: (1.0, OUTCOMES["passed"].colour, "Passes"),
}
"""The place of each outcome on the scale of colours, its colour, and its name."""


class Square(NamedTuple):
    """The outcome in a release, and the share of answers that passed; None: none is scored."""

    word: Word
    share: float | None


def strip(
    releases: Sequence[str], models: Sequence[str], squares: Sequence[Sequence[Square | None]]
) -> Figure:
    """Draw a square for each model (row) in each release (column); none where it did not run.

    The number in a square is the percentage of answers that passed.
    """
    figure = heat_map(
        [label(name, MAX_NAME) for name in releases],
        [label(name, MAX_NAME) for name in models],
        [[SQUARES[one.word][0] if one else None for one in row] for row in squares],
        [[_percentage(one) for one in row] for row in squares],
        scale=[(place, colour) for place, colour, _ in SQUARES.values()],
        text_colour=lambda value: on_fill(_colour(value)),
        height=90 + LEGEND_ROW_PX + 32 * max(len(models), 1),
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "itemclick": False},
    )
    # A few releases are squares too, and not as wide as the chart.
    figure["layout"]["xaxis"]["range"] = [-0.5, max(len(releases), MIN_COLUMNS) - 0.5]
    figure["data"] += [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [None],
            "y": [None],
            "marker": {"symbol": "square", "size": 11, "color": colour},
        }
        for _, colour, name in reversed(list(SQUARES.values()))
    ]
    return figure


def _percentage(square: Square | None) -> str:
    return "" if square is None or square.share is None else f"{100 * square.share:.0f}"


def _colour(value: float) -> str:
    return next(colour for place, colour, _ in SQUARES.values() if place == value)
