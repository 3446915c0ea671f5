"""A report as JSON from which the same report can be restored."""

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.document import Cell, Column, Document, Estimate, Fact, Link, Linked, Table
from reports.documents.origin import linked_runs
from runs.figures.rate import Rate


def stored(document: Document) -> dict[str, Any]:
    """Return the report as JSON, without its `more`."""
    return {
        "title": document.title,
        "sentences": list(document.sentences),
        "warnings": list(document.warnings),
        "labels": list(document.labels),
        "runs": list(document.runs) or linked_runs(document),
        "facts": [_fields(fact) for fact in document.facts],
        "tables": [
            {
                **_fields(table),
                "columns": [_fields(column) for column in table.columns],
                "rows": [[_kept(value) for value in row] for row in table.rows],
                "figure": table.figure,
            }
            for table in document.tables
        ],
    }


def restored(content: dict[str, Any]) -> Document:
    """Return the report that was stored."""
    return Document(
        title=content["title"],
        sentences=tuple(content["sentences"]),
        warnings=tuple(content["warnings"]),
        labels=tuple(content["labels"]),
        runs=tuple(content["runs"]),
        facts=tuple(Fact(**{**fact, "value": _read(fact["value"])}) for fact in content["facts"]),
        tables=tuple(_table(table) for table in content["tables"]),
    )


def _table(content: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in content["columns"])
    rows = tuple(tuple(_read(value) for value in row) for row in content["rows"])
    content = {**content, "columns": columns, "rows": rows}
    figure = content.pop("figure")
    return Table(**content, draw=lambda: figure)


def _fields(part: Fact | Column | Table) -> dict[str, Any]:
    names = [field.name for field in fields(part) if field.name not in ("columns", "rows", "draw")]
    return {name: _kept(getattr(part, name)) for name in names}


def _kept(value: Cell) -> Any:
    """Return a cell as JSON; other types become an object whose only key names the type."""
    if isinstance(value, Rate):
        parts = [value.passed, value.n, value.share, value.interval, value.method, value.total]
        return {"rate": parts}
    if isinstance(value, Estimate):
        return {"estimate": [value.value, value.n, value.interval, value.total]}
    if isinstance(value, Link):
        return {"link": [value.text, value.url, value.note, value.rows]}
    if isinstance(value, Linked):
        return {"linked": [_kept(value.value), value.url]}
    if isinstance(value, tuple):
        return {"several": [_kept(part) for part in value]}
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    return {"decimal": str(value)} if isinstance(value, Decimal) else value


def _read(value: Any) -> Cell:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return READERS[kind](content)


READERS: dict[str, Callable[[Any], Cell]] = {
    "rate": lambda parts: Rate(
        passed=parts[0],
        n=parts[1],
        share=parts[2],
        interval=parts[3] and Interval(*parts[3]),
        method=Method(parts[4]),
        total=parts[5],
    ),
    "estimate": lambda parts: Estimate(
        parts[0], parts[1], parts[2] and Interval(*parts[2]), parts[3]
    ),
    "link": lambda parts: Link(*parts),
    "linked": lambda parts: Linked(_read(parts[0]), parts[1]),
    "several": lambda parts: tuple(_read(part) for part in parts),
    "time": datetime.fromisoformat,
    "decimal": Decimal,
}
