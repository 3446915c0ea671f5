"""Rows of a CSV, JSON, JSON Lines or Parquet file. Pure."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalhub.files.parquet import ParquetError, rows_of
from evalhub.values.strict_json import Problem, excerpt, parse
from issues.limits import MAX_FILE_BYTES

Record = tuple[str, dict[str, Any]]
"""A row's place in its file, and its columns or fields."""


class Unreadable(ValueError):
    """An unreadable file."""


def records_in(
    name: str, data: bytes, problems: list[Problem], *, inside: str, most: int
) -> Iterator[Record]:
    """Yield the objects of a file with their places; add the problem of each one skipped.

    Args:
        name: Name of the file; its extension gives the format.
        inside: A JSON file may be an object with the list at this key.
        most: Maximum number of rows.

    Raises:
        Unreadable: Nothing of the file can be read.
    """
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"has {len(data):,} bytes; the maximum is {MAX_FILE_BYTES:,}.")
    ending = name.rpartition(".")[2].lower()
    found = parquet_rows(data) if ending == "parquet" else _text(ending, data, problems, inside)
    for number, pair in enumerate(found):
        if number == most:
            raise Unreadable(f"has more than {most:,} rows: split it into several files.")
        yield pair


def _text(ending: str, data: bytes, problems: list[Problem], inside: str) -> Iterator[Record]:
    readers = {"csv": _csv, "tsv": _csv, "json": _json, "jsonl": _lines, "ndjson": _lines}
    if ending not in readers:
        raise Unreadable(
            "has an unknown format: use .csv, .tsv, .json, .jsonl, .ndjson or .parquet."
        )
    return readers[ending](decoded(data), problems, inside)


def decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text: {error}. Save it as UTF-8.") from error


def parquet_rows(data: bytes) -> Iterator[Record]:
    try:
        for number, row in enumerate(rows_of(data), 1):
            yield f"row {number}", row
    except ParquetError as error:
        raise Unreadable(str(error)) from error


def _csv(text: str, problems: list[Problem], inside: str) -> Iterator[Record]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    csv.field_size_limit(MAX_FILE_BYTES)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    line = 1
    try:
        for cells in rows:
            place, line = f"line {line}", rows.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = _header(cells)
            elif len(cells) != len(names):
                message = f"has {len(cells)} cells, expected {len(names)}: {excerpt(cells)}."
                problems.append(Problem(place, message))
            else:
                yield place, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise Unreadable(f"cannot be read as CSV from line {line} on: {error}.") from error


def columns_of(
    names: Sequence[str], fields: Mapping[str, Sequence[str]], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Return the field of each column, "" for none: as chosen, else by its name; the first wins.

    Args:
        fields: Names by which a column is taken for a field, in lower case with underscores.
    """
    found = {name: chosen[name] for name in names if name in chosen}
    plain = {name: name.strip().lower().replace(" ", "_").replace("-", "_") for name in names}
    for field, aliases in fields.items():
        free = [n for alias in aliases for n in names if n not in found and plain[n] == alias]
        if free and field not in found.values():
            found[free[0]] = field
    return {name: found.get(name, "") for name in names}


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise Unreadable(f"has the column {excerpt(twice[0])} more than once.")
    return names


def _json(text: str, problems: list[Problem], inside: str) -> Iterator[Record]:
    value = parsed(text)
    if isinstance(value, dict) and isinstance(value.get(inside), list):
        value = value[inside]
    if not isinstance(value, list):
        raise Unreadable(f"expected a list of objects, not {excerpt(value)}.")
    for number, item in enumerate(value, 1):
        yield from _object(f"item {number}", item, problems)


def _lines(text: str, problems: list[Problem], inside: str) -> Iterator[Record]:
    for number, line in lines_of(text):
        try:
            value = parsed(line)
        except Unreadable as error:
            problems.append(Problem(f"line {number}", f"{error} Found: {excerpt(line)}"))
        else:
            yield from _object(f"line {number}", value, problems)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    return ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def parsed(text: str) -> Any:
    """Return the value of JSON.

    Raises:
        Unreadable: It is none.
    """
    try:
        return parse(text)
    except RecursionError as error:
        raise Unreadable("is nested too deeply.") from error
    except ValueError as error:
        raise Unreadable(f"is not JSON: {error}.") from error


def _object(place: str, item: Any, problems: list[Problem]) -> Iterator[Record]:
    if isinstance(item, dict):
        yield place, item
    else:
        problems.append(Problem(place, f"expected an object, not {excerpt(item)}."))
