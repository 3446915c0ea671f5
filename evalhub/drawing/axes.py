"""Axes of static figures: from values to pixels, and their labels. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Value = float | str

DAY_S = 86_400
MAX_LABELS = 6


def number_of(value: Value) -> float:
    """Return a number, or the seconds since 1970 of a time in ISO format."""
    if not isinstance(value, str):
        return float(value)
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class Axis:
    """An axis of a figure.

    Attributes:
        options: As in the layout of Plotly.
        low, high: The values at its ends, in the direction of the pixels.
        start, end: The pixels of its ends.
        categories: Names of the places 0, 1, … where it has names; else empty.
    """

    options: Mapping[str, Any]
    low: float
    high: float
    start: float
    end: float
    categories: tuple[str, ...] = ()
    is_time: bool = False

    def at(self, value: Value) -> float:
        """Return the pixel of a value."""
        place = self.categories.index(str(value)) if self.categories else number_of(value)
        return self.start + (place - self.low) / ((self.high - self.low) or 1) * (
            self.end - self.start
        )

    def share(self, part: float) -> float:
        """Return the pixel at a share of the axis, in [0, 1]."""
        return self.start + part * (self.end - self.start)

    @property
    def labels(self) -> list[tuple[float, str]]:
        """Return the pixel and the label of each place that has one."""
        if not self.options.get("showticklabels", True):
            return []
        if "tickvals" in self.options:
            names = self.options.get("ticktext") or self.options["tickvals"]
            pairs = zip(self.options["tickvals"], names, strict=True)
            return [(self.at(value), str(name)) for value, name in pairs]
        if self.categories:
            step = -(-len(self.categories) // 12)
            return [(self.at(name), name) for name in self.categories[::step]]
        first, last = sorted((self.low, self.high))
        if self.is_time:
            return self._times(first, last)
        return [(self.at(value), self._written(value)) for value in round_numbers(first, last)]

    def _times(self, first: float, last: float) -> list[tuple[float, str]]:
        """Return times at equal distances, each day once."""
        shape = "%H:%M" if last - first < 2 * DAY_S else "%d %b %Y"
        places = [first + (last - first) * (n + 0.5) / MAX_LABELS for n in range(MAX_LABELS)]
        return [(self.at(each), f"{datetime.fromtimestamp(each, UTC):{shape}}") for each in places]

    def _written(self, value: float) -> str:
        return f"{value:.0%}" if self.options.get("tickformat") == ".0%" else f"{value:,.10g}"


def round_numbers(low: float, high: float) -> list[float]:
    """Return at most about `MAX_LABELS` round numbers from low to high."""
    if high <= low:
        return [low]
    raw = (high - low) / MAX_LABELS
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def axis_of(
    options: Mapping[str, Any], values: Sequence[Value], span: tuple[float, float], pad: float
) -> Axis:
    """Return the axis with these values between two pixels.

    Args:
        pad: Added at both ends where there is no range, in the unit of the values; 0 adds 5 %.
    """
    start, end = span
    texts = [value for value in values if isinstance(value, str)]
    is_time = bool(texts) and options.get("type") != "category"
    if texts and not is_time:
        names = tuple(dict.fromkeys(texts))
        return Axis(options, -0.5, len(names) - 0.5, start, end, names)
    numbers = [number_of(value) for value in values]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if given := options.get("range"):
        low, high = number_of(given[0]), number_of(given[1])
    else:
        more = pad or 0.05 * (high - low) or 0.5
        low, high = low - (more if low else pad), high + more
        if options.get("autorange") == "reversed":
            low, high = high, low
    return Axis(options, low, high, start, end, (), is_time)
