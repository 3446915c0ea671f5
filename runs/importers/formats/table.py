"""Tests from rows with a mapping: which column is the prompt, the reference answer, … Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from issues.content import test_content
from issues.importers import records
from runs.importers.formats.records import (
    TEXTS,
    Contents,
    Document,
    PeerTest,
    as_list,
    as_text,
    key_of,
    messages_of,
    object_of,
    references_of,
)

NAME = "table"
TITLE = "CSV, JSON lines or Parquet with a column for each field"
FIELDS = {
    "prompt": ("prompt", "question", "input", "query", "instruction", "text", "user_input"),
    "system": ("system", "system_prompt"),
    **{field.name: field.columns for field in test_content.FIELDS if field.columns},
    "id": ("source_id", "id", "_id", "key"),
}
"""Fields that a column can fill, and the names by which a column is taken for one."""

LEFT_OUT, KEPT = "-", ""
"""A column's other uses: nowhere, or kept with the test."""


def matches(document: Document) -> bool:
    return document.kind == "lines" and isinstance(document.value, Mapping)


def columns_of(document: Document, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each column: as chosen, else by its name; the first one wins."""
    names = list(dict.fromkeys(str(name) for row in document.values for name in object_of(row)))
    return records.columns_of(names, FIELDS, chosen)


def read(document: Document, chosen: Mapping[str, str] | None = None) -> Contents:
    """Read tests; `chosen` is the field of columns by name."""
    contents = Contents(title=document.stem)
    columns = columns_of(document, chosen or {})
    fields = [field for field in columns.values() if field not in (KEPT, LEFT_OUT)]
    for field in sorted(set(fields)):
        if fields.count(field) > 1:
            contents.problems.append(f"Two columns are the {field}: choose one.")
        if field not in FIELDS:
            known = ", ".join(FIELDS)
            contents.problems.append(f"There is no field {field!r}: choose {known}.")
    if not {"prompt", "messages"} & set(fields):
        contents.problems.append(f"Choose the column of the prompt among {', '.join(columns)}.")
    if contents.problems:
        return contents
    contents.tests = list(_tests(document.values, columns, contents))
    return contents


def _tests(
    rows: Sequence[Any], columns: Mapping[str, str], contents: Contents
) -> Iterator[PeerTest]:
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        values = object_of(row)
        given = {field: values.get(name) for name, field in columns.items() if field}
        messages = messages_of(given.get("messages") or given.get("prompt"))
        if not any(message["content"] for message in messages):
            contents.problems.append(f"Row {number} has no prompt.")
            continue
        if system := as_text(given.get("system")).strip():
            messages = [{"role": "system", "content": system}, *messages]
        key = as_text(given.get("id")).strip() or key_of(messages)
        if key in seen:
            contents.problems.append(f"Row {number} is row {seen[key]} again: {key}.")
            continue
        seen[key] = number
        kept = {
            name: values[name]
            for name, field in columns.items()
            if not field and values.get(name) not in (None, "")
        }
        yield PeerTest(
            key=key,
            messages=messages,
            reference=references_of(given.get("reference")).strip(),
            texts={name: as_text(given.get(name)) for name in TEXTS},
            tags=_tags(given.get("tags")),
            extras={NAME: kept} if kept else {},
        )


def _tags(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else as_list(value)
    return [text for one in parts if (text := as_text(one).strip()[:100])]
