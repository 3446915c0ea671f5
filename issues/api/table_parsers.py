"""Parsers of bodies that are tables: JSON lines, a JSON list, CSV or Parquet."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from evalhub.files.csv_safety import plain
from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import Problem
from issues.importers.records import Unreadable, records_in
from issues.limits import MAX_BULK_ROWS, MAX_FILE_BYTES


class TableParser(BaseParser):
    """Parses a table to `rows`, each with its place, and the `problems` of unreadable ones.

    A row that cannot be stored is no row: not even a query can ask for its texts. `is_flat`: lists
    and objects are in cells as JSON.
    """

    ending = ""
    is_flat = False

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        problems: list[Problem] = []
        rows = []
        try:
            data = stream.read(MAX_FILE_BYTES + 1)
            found = records_in(f".{self.ending}", data, problems, inside="rows", most=MAX_BULK_ROWS)
            for place, row in found:
                cells = self.cells(row)
                names = unstorable(cells)
                problems += [Problem(place, f"{name} {REASON}") for name in names]
                rows += [] if names else [(place, cells)]
        except Unreadable as error:
            raise ParseError(f"The body {error}") from error
        return {"rows": rows, "problems": list(map(str, problems)), "is_flat": self.is_flat}

    def cells(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


class JSONTable(TableParser):
    media_type, ending = "application/json", "json"


class JSONLinesTable(TableParser):
    media_type, ending = "application/x-ndjson", "ndjson"


class CSVTable(TableParser):
    media_type, ending, is_flat = "text/csv", "csv", True

    def cells(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: plain(cell) for name, cell in row.items()}


class ParquetTable(TableParser):
    media_type, ending, is_flat = "application/vnd.apache.parquet", "parquet", True


TABLE_PARSERS = (JSONTable, JSONLinesTable, CSVTable, ParquetTable)
