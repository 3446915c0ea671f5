"""Traces of static figures: bars, lines with marks, cells and rings, as SVG. Pure."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evalhub.display.charts import NEUTRAL, on_fill, share_label
from evalhub.drawing.axes import DAY_S, Axis
from evalhub.drawing.elements import DASHES, PATTERNS, element, filled, line, mark, text, width_of

Trace = Mapping[str, Any]


def colour_of(trace: Trace) -> str:
    found = trace.get("line", {}).get("color") or trace.get("marker", {}).get("color")
    return str(found or NEUTRAL)


# Bars --------------------------------------------------------------------------------------------


def bars(traces: Sequence[Trace], x: Axis, y: Axis, layout: Mapping[str, Any]) -> str:
    """Draw all bars of a figure: beside each other, or stacked from zero to both sides."""
    is_group = layout.get("barmode", "group") == "group"
    thick = (1 - layout.get("bargap", 0.2)) / (len(traces) if is_group else 1)
    ends: dict[tuple[Any, bool], float] = defaultdict(float)
    parts = []
    for number, trace in enumerate(traces):
        is_flat = trace.get("orientation") == "h"
        along, across = (x, y) if is_flat else (y, x)
        shift = (number - (len(traces) - 1) / 2) * thick if is_group else 0.0
        step = abs(across.share(1) - across.share(0)) / (abs(across.high - across.low) or 1)
        step *= DAY_S if across.is_time else 1  # a bar over dates is a day
        spots = zip(trace["y" if is_flat else "x"], trace["x" if is_flat else "y"], strict=True)
        errors = _errors(trace.get("error_x" if is_flat else "error_y"))
        for row, (place, value) in enumerate(spots):
            if value is None:
                continue
            side = (place, value >= 0)
            first = 0.0 if is_group else ends[side]
            ends[side] = first + value
            low, high = sorted((along.at(first), along.at(first + value)))
            middle = across.at(place) + shift * step
            box = (low, middle - thick * step / 2, high - low, thick * step)
            parts.append(_bar(trace, row, box, is_flat))
            parts.append(_whisker(errors(row), first + value, middle, along, trace, is_flat))
    return "".join(parts)


def _bar(trace: Trace, row: int, box: tuple[float, float, float, float], is_flat: bool) -> str:
    low, top, length, thick = box
    marker = trace.get("marker", {})
    place = (
        {"x": low, "y": top, "width": length, "height": thick}
        if is_flat
        else {"x": top, "y": low, "width": thick, "height": length}
    )
    shape = marker.get("pattern", {}).get("shape", "")
    found = filled(shape, "rect", colour_of(trace), marker.get("opacity", 1), **place)
    label = (trace.get("text") or {row: ""})[row]
    if label and width_of(label) + 4 < length:
        found += text(
            label,
            low + length / 2,
            top + thick / 2 + 4,
            anchor="middle",
            size=11,
            fill=on_fill(colour_of(trace)),
        )
    return found


def _errors(given: Trace | None) -> Any:
    """Return a function from a row to its (below, above); None without an interval."""
    if not given or not given.get("visible", True):
        return lambda row: None
    pairs = list(zip(given.get("arrayminus", ()), given.get("array", ()), strict=False))
    return lambda row: pairs[row] if row < len(pairs) and None not in pairs[row] else None


def _whisker(
    error: Any, value: float, across: float, along: Axis, trace: Trace, is_flat: bool
) -> str:
    if error is None:
        return ""
    ends = along.at(value - error[0]), along.at(value + error[1])
    options = {"stroke_width": 1.5}
    colour = (trace.get("error_x") or trace.get("error_y") or {}).get("color") or colour_of(trace)
    pieces = [(ends[0], across, ends[1], across)]
    pieces += [(end, across - 3, end, across + 3) for end in ends]
    if not is_flat:
        pieces = [(b, a, d, c) for a, b, c, d in pieces]
    return "".join(line(*piece, colour, **options) for piece in pieces)


# Lines -------------------------------------------------------------------------------------------


def scatter(trace: Trace, x: Axis, y: Axis) -> str:
    """Draw a line with its marks, intervals or the band that it encloses."""
    spots = [
        None if value is None or place is None else (x.at(place), y.at(value))
        for place, value in zip(trace["x"], trace["y"], strict=True)
    ]
    if trace.get("fill") == "toself" and not trace.get("opacity", 1):
        return ""
    if trace.get("fill") == "toself":
        corners = " ".join(f"{spot[0]:.1f},{spot[1]:.1f}" for spot in spots if spot)
        fill, opacity = trace.get("fillcolor"), trace.get("opacity", 1)
        return element("polygon", points=corners, fill=fill, fill_opacity=str(opacity))
    parts = []
    if "lines" in trace.get("mode", "lines"):
        look = trace.get("line", {})
        parts.append(
            element(
                "path",
                d=_path(spots, steps=look.get("shape") == "hv"),
                fill="none",
                stroke=colour_of(trace),
                stroke_width=float(look.get("width", 2)),
                stroke_dasharray=DASHES.get(look.get("dash", "")),
            )
        )
    over, beside = _errors(trace.get("error_y")), _errors(trace.get("error_x"))
    for row, spot in enumerate(spots):
        if spot is None:
            continue
        parts.append(_whisker(over(row), trace["y"][row], spot[0], y, trace, False))
        parts.append(_whisker(beside(row), trace["x"][row], spot[1], x, trace, True))
    if "markers" in trace.get("mode", ""):
        marker = trace.get("marker", {})
        sizes, symbols = marker.get("size", 8), marker.get("symbol", "circle")
        for row, spot in enumerate(spots):
            size = sizes[row] if isinstance(sizes, list) else sizes
            symbol = symbols[row] if isinstance(symbols, list) else symbols
            parts.append(mark(symbol, *spot, colour_of(trace), size) if spot else "")
    return "".join(parts)


def _path(spots: Sequence[tuple[float, float] | None], *, steps: bool) -> str:
    """Return the commands of a line that is broken where a spot is missing."""
    commands, is_open, last = [], False, 0.0
    for spot in spots:
        if spot is not None:
            commands += [f"H{spot[0]:.1f}"] if steps and is_open and spot[0] != last else []
            commands.append(f"{'L' if is_open else 'M'}{spot[0]:.1f} {spot[1]:.1f}")
            last = spot[0]
        is_open = spot is not None
    return "".join(commands)


# Cells -------------------------------------------------------------------------------------------


def heat_map(trace: Trace, x: Axis, y: Axis) -> str:
    """Fill a cell for each value: in the colour that the scale has there, else between its ends."""
    (_, first), *_, (_, last) = trace["colorscale"]
    named = dict(trace["colorscale"])
    low, high = trace["zmin"], trace["zmax"]
    wide, tall = abs(x.at(1) - x.at(0)) - 2, abs(y.at(1) - y.at(0)) - 2
    return "".join(
        element(
            "rect",
            x=x.at(column) - wide / 2,
            y=y.at(row) - tall / 2,
            width=wide,
            height=tall,
            fill=named.get(share) or _between(first, last, share),
        )
        for row, cells in zip(trace["y"], trace["z"], strict=True)
        for column, value in zip(trace["x"], cells, strict=True)
        if value is not None
        for share in (min(max((value - low) / (high - low), 0), 1),)
    )


def _between(first: str, last: str, share: float) -> str:
    pairs = [(int(first[n : n + 2], 16), int(last[n : n + 2], 16)) for n in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


# Rings -------------------------------------------------------------------------------------------


def ring(trace: Trace, left: float, top: float, side: float) -> str:
    """Draw the parts of a ring clockwise from the top, inside a square."""
    total = sum(trace["values"]) or 1
    middle, outer = (left + side / 2, top + side / 2), side / 2
    inner = outer * trace.get("hole", 0)
    colours, shapes = trace["marker"]["colors"], trace["marker"]["pattern"]["shape"]
    parts, start = [], 0.0
    for value, colour, shape in zip(trace["values"], colours, shapes, strict=True):
        end = start + value / total
        path = _slice(middle, outer, inner, start, min(end, start + 0.99999))
        parts.append(filled(shape if shape in PATTERNS else "", "path", colour, d=path))
        if value / total > 0.05:
            x, y = _spot(middle, (outer + inner) / 2, (start + end) / 2)
            parts.append(
                text(share_label(value / total, 0), x, y + 4, anchor="middle", fill=on_fill(colour))
            )
        start = end
    return "".join(parts)


def _spot(middle: tuple[float, float], radius: float, turn: float) -> tuple[float, float]:
    angle = 2 * math.pi * turn
    return middle[0] + radius * math.sin(angle), middle[1] - radius * math.cos(angle)


def _slice(
    middle: tuple[float, float], outer: float, inner: float, start: float, end: float
) -> str:
    corners = [_spot(middle, outer, start), _spot(middle, outer, end)]
    corners += [_spot(middle, inner, end), _spot(middle, inner, start)]
    a, b, c, d = (f"{x:.2f} {y:.2f}" for x, y in corners)
    wide = int(end - start > 0.5)
    there = f"A{outer:.1f} {outer:.1f} 0 {wide} 1 {b}"
    return f"M{a}{there}L{c}A{inner:.1f} {inner:.1f} 0 {wide} 0 {d}Z"
