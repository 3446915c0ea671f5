"""A report as one self-contained HTML file."""

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from reports.documents.document import Document
from reports.documents.origin import Origin

STYLES = ("colours", "evalhub", "reports", "standalone")


def html_of(
    document: Document, origin: Origin | None = None, *, is_interactive: bool = False
) -> str:
    """Return the report with its styles and pictures inside.

    Args:
        origin: Where it comes from; None where the text around it says so.
        is_interactive: Figures are drawn by a script of 5 MB, which the file then holds.
    """
    has_figures = is_interactive and any(table.figure for table in document.tables)
    names = ("plotly/plotly.min.js", "evalhub/charts.js") if has_figures else ()
    scripts = [static_text(name) for name in names]
    return render_to_string(
        "reports/documents/standalone.html",
        {
            "document": document,
            "scripts": scripts,
            "policy": _policy(scripts),
            "styles": [static_text(f"evalhub/{name}.css") for name in STYLES],
            "origin": origin,
            "base_url": origin.site if origin else "",
        },
    )


def _policy(scripts: Sequence[str]) -> str:
    """Return the file's Content-Security-Policy: these scripts, no others, and no network."""
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def light_colours() -> dict[str, str]:
    """Return the values of the charts' CSS variables in the light theme, for pictures alone."""
    pairs = re.findall(r"(--[\w-]+): light-dark\((#\w+)", static_text("evalhub/colours.css"))
    return {"--eh-text": "#1d2433"} | dict(pairs)


@cache
def static_text(name: str) -> SafeString:
    """Return the text of one of our own static files."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"The static file {name} is missing.")
    return mark_safe(Path(found).read_text())
