"""An SVG picture as PNG, for mail programs: most of them show no SVG. Pure."""

import font_source_sans_pro
import resvg_py

FAMILY = "Source Sans Pro"
ZOOM = 2
"""Pixels of the picture by unit of the SVG, for dense screens."""


def png_of(svg: str) -> bytes:
    """Return a picture on white, with letters of a font of its own: a server may have none."""
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            background="#ffffff",
            zoom=ZOOM,
            skip_system_fonts=True,
            font_files=[font_source_sans_pro.SourceSansPro, font_source_sans_pro.SourceSansProBold],
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    )
