"""Files of peers → their values, within limits on bytes, entries and depth. Pure."""

import io
import sys
import zlib
from typing import Any

from evalhub.values.storable import storable
from issues.importers.records import (
    Unreadable,
    decoded,
    lines_of,
    parquet_rows,
    parsed,
    records_in,
)
from runs.importers.formats.records import Document
from runs.importers.weval.blueprint.yaml_reader import YamlError, documents
from runs.limits import MAX_ARCHIVE_ENTRIES, MAX_IMPORT_BYTES, MAX_IMPORT_LINES, MAX_UNPACKED_BYTES

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:  # Inspect packs its logs by Zstandard
    from backports.zstd import ZstdError, zipfile

BROKEN = (zipfile.BadZipFile, RuntimeError, zlib.error, ZstdError, EOFError, OSError)
"""Errors of an archive that is damaged, unknown, or (RuntimeError) encrypted."""


def read(name: str, data: bytes) -> Document:
    """Read a file by its ending.

    Raises:
        Unreadable: It cannot be read, or is over a limit; the message says why.
    """
    if len(data) > MAX_IMPORT_BYTES:
        raise Unreadable(f"has {len(data):,} bytes; the maximum is {MAX_IMPORT_BYTES:,}.")
    ending = name.rpartition(".")[2].lower()
    if ending in ("eval", "zip"):
        return Document(name, "zip", [_archive(data)])
    if ending in ("csv", "tsv", "parquet"):
        problems: list[Any] = []
        found = (
            parquet_rows(data)
            if ending == "parquet"
            else records_in(name, data, problems, inside="", most=MAX_IMPORT_LINES)
        )
        rows = [row for _, row in found]
        if problems:
            raise Unreadable("; ".join(map(str, problems[:20])))
        return Document(name, "lines", rows)
    readers = {"json": _json, "jsonl": _lines, "ndjson": _lines, "yaml": _yaml, "yml": _yaml}
    if ending not in readers:
        raise Unreadable(
            "has an unknown ending: use .json, .jsonl, .csv, .yaml, .parquet or Inspect's .eval."
        )
    return readers[ending](name, storable(decoded(data)))


def _json(name: str, text: str) -> Document:
    try:
        value = parsed(text)
    except Unreadable:
        lines = text.strip().split("\n")
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise
        return _lines(name, text)  # some peers call JSON lines .json
    is_list = isinstance(value, list)
    return Document(name, "lines" if is_list else "json", value if is_list else [value])


def _lines(name: str, text: str) -> Document:
    values: list[Any] = []
    for number, line in lines_of(text):
        if len(values) == MAX_IMPORT_LINES:
            raise Unreadable(f"has more than {MAX_IMPORT_LINES:,} lines: split it.")
        try:
            values.append(parsed(line))
        except Unreadable as error:
            raise Unreadable(f"line {number} {error}") from error
    return Document(name, "lines", values)


def _yaml(name: str, text: str) -> Document:
    try:
        found, faults = documents(text)
    except YamlError as error:
        raise Unreadable(
            f"line {error.fault.line}: {error}" if error.fault.line else str(error)
        ) from error
    if faults:
        raise Unreadable("; ".join(f"line {fault.line}: {fault.message}" for fault in faults[:20]))
    return Document(name, "json", found)


def _archive(data: bytes) -> dict[str, Any]:
    """Return the JSON files of a zip archive by name, none larger than it says."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if one.filename.endswith(".json")]
            size = sum(entry.file_size for entry in entries)
            if len(entries) > MAX_ARCHIVE_ENTRIES or size > MAX_UNPACKED_BYTES:
                raise Unreadable(
                    f"holds {len(entries):,} files with {size:,} bytes; the maximum is "
                    f"{MAX_ARCHIVE_ENTRIES:,} with {MAX_UNPACKED_BYTES:,}."
                )
            return {entry.filename: _entry(archive, entry) for entry in entries}
    except BROKEN as error:
        raise Unreadable(f"cannot be unpacked: {error}.") from error


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    with archive.open(entry) as file:
        found = file.read(entry.file_size + 1)
    if len(found) > entry.file_size:
        raise Unreadable(f"{entry.filename} is larger than the archive says.")
    try:
        return parsed(storable(found.decode()))
    except (Unreadable, UnicodeDecodeError) as error:
        raise Unreadable(f"{entry.filename} {error}") from error
