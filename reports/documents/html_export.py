"""A report as one HTML file that needs nothing else: its figures are drawn where it is opened."""

import json
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from reports.documents.document import Document

SCRIPTS = ("plotly/plotly.min.js", "evalhub/standalone.js")
STYLES = ("evalhub/standalone.css",)


def html_of(document: Document) -> str:
    """The report with its scripts and styles inside; without figures it has no script at all."""
    figures = {table.key: table.figure for table in document.tables if table.figure}
    return render_to_string(
        "reports/documents/standalone.html",
        {
            "document": document,
            "figures": _as_script(figures),
            "scripts": [_source(name) for name in SCRIPTS] if figures else [],
            "styles": [_source(name) for name in STYLES],
            "made_at": timezone.now(),
        },
    )


def _as_script(figures: dict[str, dict[str, object]]) -> SafeString:
    """JSON that cannot end the script it stands in."""
    return mark_safe(json.dumps(figures).replace("<", "\\u003c"))


@cache
def _source(name: str) -> SafeString:
    """One of our own static files, as it is."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"The static file {name} is missing.")
    return mark_safe(Path(found).read_text())
