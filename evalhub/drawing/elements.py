"""Elements of SVG as text. Pure."""

import re
from html import escape, unescape
from typing import Any

TEXT, GRID = "var(--eh-text)", "var(--eh-chart-grid)"
LETTER_PX = 6.3
"""Mean width of a letter at 12 px."""

STYLED = ("fill", "stroke")
"""Only a style can name a CSS variable, an attribute cannot."""


def element(name: str, content: str = "", /, **attributes: Any) -> str:
    """Return an element; `content` is markup. None leaves an attribute out."""
    style = ";".join(f"{key}:{attributes.pop(key)}" for key in STYLED if attributes.get(key))
    given = {"style": style or None} | attributes
    words = "".join(
        f' {key.replace("_", "-")}="{escape(_written(value))}"'
        for key, value in given.items()
        if value is not None
    )
    return f"<{name}{words}>{content}</{name}>" if content else f"<{name}{words}/>"


def _written(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def lines_of(label: str) -> list[tuple[str, bool]]:
    """Return the lines of a Plotly label, and whether each is bold. A label is escaped HTML."""
    parts = re.split(r"<br\s*/?>|\n", str(label))
    return [(unescape(re.sub("</?b>", "", part)), "<b>" in part) for part in parts]


def width_of(label: str) -> float:
    """Return the width in px of the longest line of a label at 12 px, about."""
    return max(len(line) for line, _ in lines_of(label)) * LETTER_PX


def text(
    label: str, x: float, y: float, *, anchor: str = "start", size: float = 12, fill: str = TEXT
) -> str:
    """Write a label; y is the baseline of its first line, anchor start, middle or end."""
    spans = [
        element(
            "tspan",
            escape(line, quote=False) or " ",
            x=x,
            dy=size * 1.25 if number else None,
            font_weight="bold" if is_bold else None,
        )
        for number, (line, is_bold) in enumerate(lines_of(label))
    ]
    return element(
        "text", "".join(spans), y=y, text_anchor=anchor, font_size=float(size), fill=fill
    )


def line(x1: float, y1: float, x2: float, y2: float, colour: str, **options: Any) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, **options)


DASHES = {"dash": "8 5", "dot": "2 4", "dashdot": "8 4 2 4"}

CORNERS = {
    "square": "M-4-4H4V4H-4Z",
    "diamond": "M0-6L6 0L0 6L-6 0Z",
    "triangle-up": "M0-6L5.5 4H-5.5Z",
    "triangle-right": "M6 0L-4 5.5V-5.5Z",
    "triangle-left": "M-6 0L4 5.5V-5.5Z",
    "star": "M0-7L1.7-2.3H6.6L2.7.7L4.1 5.6L0 2.7L-4.1 5.6L-2.7.7L-6.6-2.3H-1.7Z",
}


def mark(symbol: str, x: float, y: float, colour: str, size: float = 8) -> str:
    """Draw a marker by its name in Plotly; a circle if it is unknown."""
    if symbol not in CORNERS:
        return element("circle", cx=x, cy=y, r=size / 2, fill=colour)
    place = f"translate({x:.1f} {y:.1f}) scale({size / 9:.2f})"
    return element("path", d=CORNERS[symbol], transform=place, fill=colour)


PATTERNS = {"/": "M0 8L8 0", "\\": "M0 0L8 8", "x": "M0 8L8 0M0 0L8 8", ".": "M3 4H5"}


def pattern_name(shape: str) -> str:
    """Return the ID of a pattern; equal in all figures of a file, as are the patterns."""
    return f"pattern-{list(PATTERNS).index(shape)}"


def patterns() -> str:
    """Return the definitions of the patterns that tell parts apart without colour."""
    found = [
        element(
            "pattern",
            element("path", d=path, stroke="var(--eh-on-fill)", stroke_opacity=0.6),
            id=pattern_name(shape),
            width=8,
            height=8,
            patternUnits="userSpaceOnUse",
        )
        for shape, path in PATTERNS.items()
    ]
    return element("defs", "".join(found))


def filled(shape: str, name: str, /, colour: str, opacity: float = 1, **place: Any) -> str:
    """Fill an element with a colour, and with a pattern over it; "" is without."""
    found = element(name, fill=colour, fill_opacity=None if opacity == 1 else opacity, **place)
    if shape in PATTERNS:
        found += element(name, fill=f"url(#{pattern_name(shape)})", **place)
    return found
