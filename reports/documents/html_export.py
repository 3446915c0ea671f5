"""A report as one self-contained HTML file; the browser that opens it draws the figures."""

from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from reports.documents.document import Document


def html_of(document: Document, *, url: str = "") -> str:
    """Return the report with its styles inside, and its scripts where it has figures.

    Args:
        url: Of the page that it was made from; "" without a link back.
    """
    has_figures = any(table.figure for table in document.tables)
    scripts = ("plotly/plotly.min.js", "evalhub/charts.js") if has_figures else ()
    return render_to_string(
        "reports/documents/standalone.html",
        {
            "document": document,
            "scripts": [_source(name) for name in scripts],
            "styles": [_source("evalhub/colours.css"), _source("evalhub/standalone.css")],
            "made_at": timezone.now(),
            "url": url,
        },
    )


@cache
def _source(name: str) -> SafeString:
    """Return the text of one of our own static files."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"The static file {name} is missing.")
    return mark_safe(Path(found).read_text())
