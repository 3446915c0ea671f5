"""Figures of `evalhub.display.charts` as static SVG: for files, e-mails and paper, without scripts.

It draws what the reports use: bars, lines, cells and rings, with intervals, marks and notes. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalhub.display.charts import Figure
from evalhub.drawing.axes import DAY_S, Axis, Value, axis_of
from evalhub.drawing.elements import (
    DASHES,
    GRID,
    LETTER_PX,
    TEXT,
    element,
    filled,
    line,
    mark,
    patterns,
    text,
    width_of,
)
from evalhub.drawing.traces import bars, colour_of, heat_map, ring, scatter

WIDTH = 760.0
MARGIN = 14.0
RING_PX = 210.0
LEGEND_PX = 20.0


def svg_of(figure: Figure, title: str = "", colours: Mapping[str, str] | None = None) -> str:
    """Return a figure as an SVG element.

    Args:
        title: What readers hear who do not see it.
        colours: Values of the CSS variables; None where the file around it defines them.
    """
    data, layout = figure["data"], figure.get("layout", {})
    is_ring = len(data) == 1 and data[0]["type"] == "pie"
    body, height = _ring(data[0], layout) if is_ring else _plot(data, layout)
    found = element(
        "svg",
        element("title", _plain(title)) + patterns() + body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        width=WIDTH,
        height=height,
        role="img",
        font_family="Inter, system-ui, sans-serif",
    )
    if colours is None:
        return found
    return re.sub(r"var\((--[\w-]+)\)", lambda name: colours[name[1]], found)


def _plain(title: str) -> str:
    return title.replace("&", "&amp;").replace("<", "&lt;") or "Chart"


def _ring(trace: Figure, layout: Figure) -> tuple[str, float]:
    """Draw a ring around its note, below the names of its parts."""
    marker = trace["marker"]
    looks = zip(trace["text"], marker["colors"], marker["pattern"]["shape"], strict=True)
    legend, top = _legend([(name, _swatch(colour, shape)) for name, colour, shape in looks])
    middle = WIDTH / 2
    (note,) = layout["annotations"]
    parts = [
        legend,
        ring(trace, middle - RING_PX / 2, top + 8, RING_PX),
        text(note["text"], middle, top + 8 + RING_PX / 2, anchor="middle", size=15),
    ]
    return "".join(parts), top + 48 + RING_PX


def _swatch(colour: str, shape: str = "") -> str:
    return filled(shape, "rect", colour, x=0, y=-10, width=12, height=12)


def _legend(entries: Sequence[tuple[str, str]]) -> tuple[str, float]:
    """Write names with their signs in rows from the top; return them and where they end."""
    parts, x, y = [], MARGIN, MARGIN + 10
    for name, sign in entries:
        wide = width_of(name) + 36
        if x > MARGIN and x + wide > WIDTH:
            x, y = MARGIN, y + LEGEND_PX
        parts.append(element("g", sign, transform=f"translate({x:.1f} {y:.1f})"))
        parts.append(text(name, x + 20, y))
        x += wide
    return "".join(parts), y + 8 if entries else MARGIN


def _plot(data: Sequence[Figure], layout: Figure) -> tuple[str, float]:
    legend, top = _legend(_named(data) if layout.get("showlegend") else [])
    height = float(layout.get("height", 360)) + top
    parts = [legend]
    places: dict[tuple[str, str], tuple[Axis, Axis]] = {}
    for pair in dict.fromkeys((trace.get("xaxis", "x"), trace.get("yaxis", "y")) for trace in data):
        mine = [t for t in data if (t.get("xaxis", "x"), t.get("yaxis", "y")) == pair]
        x, y = _axes(pair, mine, layout, (top, height))
        places[pair] = x, y
        parts.append(_grid(x, y))
        drawn = [trace for trace in mine if trace["type"] == "bar"]
        parts += [bars(drawn, x, y, layout)] if drawn else []
        parts += [heat_map(trace, x, y) for trace in mine if trace["type"] == "heatmap"]
        parts += [scatter(trace, x, y) for trace in mine if trace["type"] == "scatter"]
    first = next(iter(places.values()), None)
    for shape in layout.get("shapes", ()) if first else ():
        parts.append(_rule(shape, *_pair(shape, places)))
    for note in layout.get("annotations", ()) if first else ():
        parts.append(_note(note, *_pair(note, places)))
    return "".join(parts), height


def _named(data: Sequence[Figure]) -> list[tuple[str, str]]:
    """Return the entries of the legend, each with its sign."""
    found = {}
    for trace in data:
        if not trace.get("name") or not trace.get("showlegend", True):
            continue
        marker = trace.get("marker", {})
        if trace["type"] == "bar":
            sign = _swatch(colour_of(trace), marker.get("pattern", {}).get("shape", ""))
        else:
            dash = DASHES.get(trace.get("line", {}).get("dash", ""))
            sign = line(-2, -4, 14, -4, colour_of(trace), stroke_width=2, stroke_dasharray=dash)
            sign = sign if "lines" in trace.get("mode", "lines") else ""
            symbol = marker.get("symbol", "circle")
            sign += mark(symbol, 6, -4, colour_of(trace)) if marker else ""
        found[trace["name"]] = sign
    return list(found.items())


def _axes(
    pair: tuple[str, str], data: Sequence[Figure], layout: Figure, ends: tuple[float, float]
) -> tuple[Axis, Axis]:
    """Return the axes of a panel, with room for their labels inside the figure."""
    across, down = (layout.get(f"{name[0]}axis{name[1:]}", {}) for name in pair)
    top, height = ends
    x_values, y_values = list(_values(data, "x", layout)), list(_values(data, "y", layout))
    flat = any(trace.get("orientation") == "h" for trace in data)
    cells = any(trace["type"] == "heatmap" for trace in data)
    rough = axis_of(down, y_values, (0, 1), 0.5 if flat or cells or _is_rows(down) else 0)
    room = max((width_of(name) for _, name in rough.labels), default=0) + 10
    room += 20 if down.get("title", {}).get("text") else 0
    domain = across.get("domain", (0, 1))
    panel = WIDTH - 2 * MARGIN
    left = MARGIN + domain[0] * panel + min(room, panel * 0.6)
    span = (left, MARGIN + domain[1] * panel)
    days = across.get("type") == "date" and any(trace["type"] == "bar" for trace in data)
    x = axis_of(across, x_values, span, DAY_S / 2 if days else 0.5 if cells else 0)
    is_top = across.get("side") == "top"
    under = 6 if is_top else 44 if across.get("title", {}).get("text") else 28
    low, high = down.get("domain", (0, 1))
    full = height - top
    bottom = top + (1 - low) * full - (under if low == 0 or "domain" not in down else 24)
    upper = top + (1 - high) * full + (26 if is_top else 8)
    pad = 0.5 if flat or cells or _is_rows(down) else 0
    return x, axis_of(down, y_values, (bottom, upper), pad)


def _is_rows(options: Mapping[str, Any]) -> bool:
    return options.get("autorange") == "reversed"


def _values(data: Sequence[Figure], name: str, layout: Figure) -> Iterator[Value]:
    """Return all values of a direction; of bars their foot, and the ends of stacks."""
    ends: dict[tuple[Any, bool], float] = defaultdict(float)
    for trace in data:
        is_along = (name == "x") == (trace.get("orientation") == "h")
        if trace["type"] != "bar" or not is_along:
            yield from (value for value in trace[name] if value is not None)
            continue
        yield 0.0
        for place, value in zip(trace["y" if name == "x" else "x"], trace[name], strict=True):
            if value is not None:
                key = (place, value >= 0)
                is_stacked = layout.get("barmode", "group") != "group"
                ends[key] = value + (ends[key] if is_stacked else 0)
                yield ends[key]


def _grid(x: Axis, y: Axis) -> str:
    """Draw lines at the labelled places, and the titles of the axes."""
    parts = []
    on_top = x.options.get("side") == "top"
    for place, name in x.labels:
        if x.options.get("showgrid", True):
            parts.append(line(place, y.start, place, y.end, GRID))
        parts.append(text(name, place, y.end - 8 if on_top else y.start + 16, anchor="middle"))
    for place, name in y.labels:
        if y.options.get("showgrid", True):
            parts.append(line(x.start, place, x.end, place, GRID))
        parts.append(text(name, x.start - 8, place + 4, anchor="end"))
    middle = (y.start + y.end) / 2
    if title := x.options.get("title", {}).get("text"):
        parts.append(text(title, (x.start + x.end) / 2, y.start + 36, anchor="middle"))
    if title := y.options.get("title", {}).get("text"):
        room = max((width_of(name) for _, name in y.labels), default=0) + 20
        turned = f"translate({x.start - room:.1f} {middle:.1f}) rotate(-90)"
        parts.append(element("g", text(title, 0, 0, anchor="middle"), transform=turned))
    return "".join(parts)


def _pair(part: Figure, places: Mapping[tuple[str, str], tuple[Axis, Axis]]) -> tuple[Axis, Axis]:
    """Return the axes that a shape or note refers to; the first ones for the whole figure."""
    x, y = (part.get(f"{name}ref", name).split()[0] for name in "xy")
    found = next((axes for (a, b), axes in places.items() if a == x or b == y), None)
    return found or next(iter(places.values()))


def _spot(part: Figure, key: str, name: str, axis: Axis) -> float:
    """Return the pixel of a shape's or note's place: a value, or a share of the axis."""
    ref = part.get(f"{name}ref", name)
    is_share = ref == "paper" or ref.endswith("domain")
    return axis.share(part[key]) if is_share else axis.at(part[key])


def _rule(shape: Figure, x: Axis, y: Axis) -> str:
    look = shape["line"]
    return line(
        _spot(shape, "x0", "x", x),
        _spot(shape, "y0", "y", y),
        _spot(shape, "x1", "x", x),
        _spot(shape, "y1", "y", y),
        look["color"],
        stroke_dasharray=DASHES.get(look.get("dash", "")),
    )


ANCHORS = {"left": "start", "right": "end", "center": "middle"}


def _note(note: Figure, x: Axis, y: Axis) -> str:
    font = note.get("font", {})
    shift = {"top": LETTER_PX * 2, "bottom": -4.0}.get(note.get("yanchor", ""), 4.0)
    return text(
        note["text"],
        _spot(note, "x", "x", x),
        _spot(note, "y", "y", y) + shift,
        anchor=ANCHORS[note.get("xanchor", "center")],
        size=font.get("size", 12),
        fill=font.get("color", TEXT),
    )
