"""A report as files: one table as CSV, everything as JSON or Markdown."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from evalhub.files.csv_safety import csv_lines
from reports.documents.cells import as_json, flat, headings, interval_note, words
from reports.documents.document import Document, Table
from reports.documents.origin import COLUMNS, Origin


def csv_of(table: Table, origin: Origin) -> Iterator[str]:
    """Return a table as CSV; each line ends with the origin, as files are cut and joined."""
    rows = ((*flat(row, table.columns), *origin.cells) for row in table.rows)
    return csv_lines([*headings(table.columns), *COLUMNS], rows)


def json_of(document: Document) -> dict[str, Any]:
    """Return the whole report in full precision; null is not measured."""
    return {
        "title": document.title,
        "labels": list(document.labels),
        "warnings": list(document.warnings),
        "actions": [as_json(link) for link in document.actions],
        "sentences": list(document.sentences),
        "facts": {
            fact.name: {"title": fact.title, "value": as_json(fact.value), "note": fact.note}
            for fact in document.facts
        },
        "tables": {table.key: _table(table) for table in document.tables},
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "note": table.note,
        "columns": [asdict(column) for column in table.columns],
        "rows": [{name: as_json(value) for name, value in row.items()} for row in table.as_rows()],
    }


def markdown_of(document: Document, origin: Origin | None = None) -> str:
    """Return the report as Markdown, with user text escaped.

    Args:
        origin: Where it comes from; None where the text around it says so.
    """
    parts = [f"# {_escaped(document.title)}"]
    if origin:
        known = [f"- {name}: {_escaped(value)}" for name, value in origin.facts]
        parts.append("\n".join([*known, f"- Page: {origin.url}"]))
    parts += [f"> **{_escaped(label)}**" for label in document.labels]
    parts += [f"> {_escaped(warning)}" for warning in document.warnings]
    parts += [_escaped(sentence) for sentence in document.sentences]
    facts = [
        f"- **{_escaped(fact.title)}**: {_escaped(words(fact.value, fact.form))}"
        + (f" ({_escaped(fact.note)})" if fact.note else "")
        for fact in document.facts
    ]
    parts += ["\n".join(facts)] if facts else []
    parts += [part for table in document.tables for part in _sections(table)]
    return "\n\n".join(parts) + "\n"


def _sections(table: Table) -> Iterator[str]:
    yield f"## {_escaped(table.title)}"
    if not table.rows:
        yield _escaped(table.empty or "No rows.")
        return
    lines = [
        "| " + " | ".join(_escaped(column.title) for column in table.columns) + " |",
        "|" + "---|" * len(table.columns),
    ]
    for row in table.rows:
        shown = zip(row, table.columns, strict=True)
        lines.append("| " + " | ".join(_escaped(words(v, c.form)) for v, c in shown) + " |")
    yield "\n".join(lines)
    if note := f"{table.note} {interval_note(table.rows)}".strip():
        yield _escaped(note)


SPECIAL = {ord(sign): f"\\{sign}" for sign in "\\`*_[]<>|#"} | {ord("\n"): " ", ord("\r"): " "}


def _escaped(text: str) -> str:
    return text.translate(SPECIAL)
