"""Typed access to foreign JSON that records every problem with its position. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import Problem, excerpt
from issues.importers.records import Unreadable, parsed


class Row:
    """A JSON object. Values that are missing or of another type are read as empty and recorded."""

    def __init__(self, fields: Mapping[str, Any], place: str, problems: list[Problem]) -> None:
        self.fields = fields
        self.place = place
        self.problems = problems

    def note(self, field: str, message: str) -> None:
        self.problems.append(Problem(f"{self.place}.{field}" if field else self.place, message))

    def text(self, field: str, *, required: bool = False, most: int | None = None) -> str:
        """Return text without surrounding space; "" if missing. `most` is its maximum length."""
        value = self.fields.get(field)
        if value is not None and not isinstance(value, str):
            self.note(field, f"expected text, not {excerpt(value)}.")
            return ""
        text = (value or "").strip()
        if required and not text:
            self.note(field, "is missing.")
        if most is not None and len(text) > most:
            self.note(field, f"has {len(text)} characters; the limit is {most}: {excerpt(text)}.")
        return text

    def verbatim(self, field: str) -> str:
        """Return text with all its space; "" if missing."""
        value = self.fields.get(field)
        self.text(field)
        return value if isinstance(value, str) else ""

    def flag(self, field: str, default: bool = False) -> bool:
        value = self.fields.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.note(field, f"expected true or false, not {excerpt(value)}.")
        return value is True

    def texts(self, field: str, *, most: int | None = None) -> list[str]:
        """Return distinct texts in order; empty if missing."""
        items = {str(n): item for n, item in enumerate(self._list(field))}
        row = Row(items, "", [])
        found = [row.text(n, required=True, most=most) for n in items]
        for problem in row.problems:
            self.note(f"{field}[{problem.place[1:]}]", problem.message)
        return list(dict.fromkeys(text for text in found if text))

    def row(self, field: str) -> "Row":
        """Return an object; empty if missing."""
        return self._row(self.fields.get(field) or {}, field)

    def rows(self, field: str) -> list["Row"]:
        """Return a list of objects; empty if missing."""
        return [self._row(item, f"{field}[{n}]") for n, item in enumerate(self._list(field))]

    def identifier(self, field: str) -> str:
        """Return an id, plain or as {"$oid": …}."""
        value = self.fields.get(field)
        plain = value.get("$oid", value) if isinstance(value, dict) else value
        return Row({field: plain}, self.place, self.problems).text(field, required=True, most=100)

    def identifiers(self, field: str) -> list[str]:
        """Return distinct ids in order; empty if missing."""
        items = self._list(field)
        plain = [item.get("$oid", item) if isinstance(item, dict) else item for item in items]
        return Row({field: plain}, self.place, self.problems).texts(field, most=100)

    def moment(self, field: str) -> datetime | None:
        """Return a time, in UTC unless it names a zone; None if missing."""
        value = self.fields.get(field)
        plain = value.get("$date", value) if isinstance(value, dict) else value
        if plain is None or plain == "":
            return None
        try:
            moment = datetime.fromisoformat(plain)
        except (TypeError, ValueError):
            self.note(field, f"expected a date such as 2025-12-19 20:37, not {excerpt(value)}.")
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _list(self, field: str) -> list[Any]:
        value = self.fields.get(field)
        if value is not None and not isinstance(value, list):
            self.note(field, f"expected a list, not {excerpt(value)}.")
        return value if isinstance(value, list) else []

    def _row(self, value: Any, field: str) -> "Row":
        if not isinstance(value, dict):
            self.note(field, f"expected an object, not {excerpt(value)}.")
            value = {}
        return Row(value, f"{self.place}.{field}", self.problems)


def rows_of(text: str, name: str, problems: list[Problem]) -> list[Row]:
    """Return the objects in a file with a JSON list."""
    try:
        value = parsed(text)
    except Unreadable as error:
        problems.append(Problem(name, str(error)))
        return []
    problems += [Problem(place, REASON) for place in unstorable(value, name)]
    if not isinstance(value, list):
        problems.append(Problem(name, f"expected a list of objects, not {excerpt(value)}."))
        return []
    rows = []
    for number, item in enumerate(value):
        if isinstance(item, dict):
            rows.append(Row(item, f"{name}[{number}]", problems))
        else:
            place = f"{name}[{number}]"
            problems.append(Problem(place, f"expected an object, not {excerpt(item)}."))
    return rows
