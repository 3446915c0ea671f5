"""Text in a spreadsheet stays text, even where it looks like a formula."""

import re
from typing import Any

FORMULA = re.compile(r"[\s\ufeff\u200b]*[=+\-@＝＋－＠]|[\t\r\n]")
"""What a spreadsheet takes for the beginning of a formula, some in other scripts' widths."""

BOM = "\ufeff"
"""Without it some spreadsheets misread every letter beyond ASCII."""


class Echo:
    """Something to write to that gives back what was written."""

    def write(self, text: str) -> str:
        return text


def cell(value: Any) -> Any:
    """A value as a spreadsheet may safely hold it; "" is not measured or sealed."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value
