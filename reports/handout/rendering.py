"""A report on one A4 page: as HTML for browsers and printers, and the same as PDF."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from evalhub.display.formatting import points
from evalhub.drawing.figure import svg_of
from evalhub.statistics.changes.conclusion import Word
from reports.documents.cells import words
from reports.documents.document import Document, Table
from reports.documents.handout import Handout, HandoutLine
from reports.documents.html_export import light_colours, static_text
from reports.documents.origin import Origin

ROWS = 12
"""Rows of a report that has no handout of its own."""

APT_PACKAGES = (
    *("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0"),
    *("fonts-dejavu-core", "fonts-droid-fallback"),
)
"""Debian's packages behind PDF files; the last has Chinese, Japanese and Korean letters."""

AXIS_PX = 200
LETTERS_PT = (9.5, 8.5, 7.5, 6.5)
"""Sizes of letters: the first by which all is on one page is taken."""

LOSS, GAIN, NEITHER = "#c2470f", "#0b5c42", "#4a5565"
COLOURS = {Word.WORSE: LOSS, Word.MIXED: LOSS, Word.BETTER: GAIN}


class CannotMakePdf(Exception):
    """WeasyPrint or a library that it needs is not installed; the message says what to do."""


class PlottedLine(NamedTuple):
    """A line with its interval in the picture: ends and middle in pixels, None without one."""

    line: HandoutLine
    ends: tuple[float, float] | None
    middle: float | None
    change: str
    between: str
    colour: str = NEITHER


def pdf_of(document: Document, origin: Origin) -> bytes:
    """Return the page as PDF.

    Raises:
        CannotMakePdf: A library is missing.
    """
    try:
        from weasyprint import HTML  # slow, and not installed everywhere
        from weasyprint.urls import URLFetcher
    except ImportError as error:
        raise CannotMakePdf("PDF files need a package: pip install weasyprint.") from error
    except OSError as error:
        raise CannotMakePdf(
            f"PDF files need Pango on the server: apt-get install {' '.join(APT_PACKAGES)} "
            f"({error})."
        ) from error
    nothing = URLFetcher(allowed_protocols=())
    for letters_pt in LETTERS_PT:
        page = html_of_handout(document, origin, letters_pt)
        made = HTML(string=page, url_fetcher=nothing).render()
        if len(made.pages) == 1:
            break
    found: bytes = made.write_pdf()
    return found


def html_of_handout(document: Document, origin: Origin, letters_pt: float = LETTERS_PT[0]) -> str:
    """Return the page as one HTML file without scripts."""
    handout = document.handout
    context: dict[str, Any] = {
        "document": document,
        "handout": handout,
        "origin": origin,
        "style": static_text("evalhub/handout.css"),
        "letters": str(letters_pt),
        "lines": _plotted(handout) if handout else (),
        "axis": [_percent(-handout.span), "0", _percent(handout.span)] if handout else (),
    }
    if handout is None:
        context |= _first_things(document)
    return render_to_string("reports/handout/page.html", context)


def _plotted(handout: Handout) -> list[PlottedLine]:
    def at(change: float) -> float:
        return round(AXIS_PX / 2 * (1 + max(-1.0, min(1.0, change / handout.span))), 1)

    return [
        PlottedLine(line, None, None, "", "")
        if line.change is None or line.interval is None
        else PlottedLine(
            line,
            (at(line.interval.low), at(line.interval.high)),
            at(line.change),
            points(line.change),
            " to ".join(points(end).removesuffix(" pts") for end in line.interval),
            COLOURS.get(line.word, NEITHER),
        )
        for line in handout.lines
    ]


def _percent(change: float) -> str:
    return f"{100 * change:+.0f}".replace("-", "−")


def _first_things(document: Document) -> dict[str, Any]:
    """Return picture, figures and first rows of a report without a handout of its own."""
    figure = next((table for table in document.tables if table.figure), None)
    table = next((table for table in document.tables if table.rows), None)
    picture = (
        svg_of(figure.figure, figure.title, light_colours()) if figure and figure.figure else ""
    )
    return {
        "picture": mark_safe(picture),
        "facts": [(fact.title, words(fact.value, fact.form)) for fact in document.facts],
        "table": table,
        "rows": _rows(table) if table else (),
        "n_left_out": max(0, len(table.rows) - ROWS) if table else 0,
    }


def _rows(table: Table) -> list[Sequence[str]]:
    return [
        [words(value, column.form) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows[:ROWS]
    ]
