"""Export of rows as a file, and of what reproduces their evaluation."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.http import HttpResponse
from django.utils.text import slugify

from evalhub.files.csv_safety import csv_lines
from evalhub.files.notebook import notebook_of

FORMATS = {
    "csv": ("CSV", "A line per row, for spreadsheets", "text/csv; charset=utf-8"),
    "json": ("JSON", "Everything, in one object", "application/json"),
    "jsonl": ("JSON Lines", "An object per row", "application/x-ndjson"),
    "py": ("Python script", "Reproduces the evaluation", "text/x-python; charset=utf-8"),
    "ipynb": ("Jupyter notebook", "The script in cells", "application/x-ipynb+json"),
}
"""Title, use and content type by the file's extension."""


@dataclass(frozen=True)
class Export:
    """Content of an export: `rows` as JSON objects, all of it in `document`, and the script."""

    rows: Sequence[Mapping[str, Any]]
    document: Any
    script: str


def content_of(file_format: str, export: Export) -> str:
    if file_format == "csv":
        return "".join(csv_of(export.rows))
    if file_format == "json":
        return json.dumps(export.document, ensure_ascii=False, indent=2) + "\n"
    if file_format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in export.rows)
    return notebook_of(export.script) if file_format == "ipynb" else export.script


def export_response(file_format: str, name: str, export: Export) -> HttpResponse:
    """Return the file, named for what it holds."""
    file = f"{slugify(name) or 'export'}.{file_format}"
    return HttpResponse(
        content_of(file_format, export),
        content_type=FORMATS[file_format][2],
        headers={"Content-Disposition": f'attachment; filename="{file}"'},
    )


def csv_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield rows as CSV with the columns of the first one; lists and objects as JSON."""
    found = iter(rows)
    first = next(found, None)
    if first is not None:
        cells = ([_cell(row.get(name)) for name in first] for row in chain([first], found))
        yield from csv_lines(list(first), cells)


def _cell(value: Any) -> Any:
    """Return a value of one cell: lists and objects as JSON, {} and [] as nothing."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return value
