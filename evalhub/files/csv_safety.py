import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

FORMULA = re.compile(r"'*(?:[\s\ufeff\u200b]*[=+\-@＝＋－＠]|[\t\r\n])")
"""Beginnings that a spreadsheet reads as a formula, full-width ones included, quoted or not."""

BOM = "\ufeff"
"""Byte-order mark; without it some spreadsheets misread non-ASCII letters."""


class Echo:
    """A file whose `write` returns the written text."""

    def write(self, text: str) -> str:
        return text


def csv_lines(heading: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield a table as CSV line by line; text that looks like a formula is quoted."""
    writer = csv.writer(Echo())
    yield BOM + writer.writerow(map(cell, heading))
    for row in rows:
        yield writer.writerow(map(cell, row))


def cell(value: Any) -> Any:
    """Return a value that is safe in a spreadsheet; "" is not measured or sealed."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def plain(text: str) -> str:
    """Return the text that `cell` quoted."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
