"""Typed access to foreign JSON that records every problem with its position. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import Problem, excerpt
from issues.importers.records import Unreadable, parsed

Kind = TypeVar("Kind")


class Row:
    """A JSON object. Values that are missing or of another type are read as empty and recorded."""

    def __init__(self, fields: Mapping[str, Any], place: str, problems: list[Problem]) -> None:
        self.fields = fields
        self.place = place
        self.problems = problems

    def note(self, field: str, message: str) -> None:
        self.problems.append(Problem(f"{self.place}.{field}" if field else self.place, message))

    def _typed(self, field: str, kind: type[Kind], what: str) -> Kind | None:
        """Return a value of this type; None if missing or of another."""
        value = self.fields.get(field)
        if value is None or isinstance(value, kind):
            return value
        self.note(field, f"expected {what}, not {excerpt(value)}.")
        return None

    def text(self, field: str, *, required: bool = False, most: int | None = None) -> str:
        """Return text without surrounding space; "" if missing. `most` is its maximum length."""
        given = self._typed(field, str, "text")
        text = (given or "").strip()
        if required and not text and given == self.fields.get(field):
            self.note(field, "is missing.")
        if most is not None and len(text) > most:
            self.note(field, f"has {len(text)} characters; the limit is {most}: {excerpt(text)}.")
        return text

    def verbatim(self, field: str) -> str:
        """Return text with all its space; "" if missing."""
        return self._typed(field, str, "text") or ""

    def flag(self, field: str, default: bool = False) -> bool:
        value = self._typed(field, bool, "true or false")
        return default if value is None else value

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
        plain = _plain(self.fields.get(field), "$oid")
        return Row({field: plain}, self.place, self.problems).text(field, required=True, most=100)

    def identifiers(self, field: str) -> list[str]:
        """Return distinct ids in order; empty if missing."""
        plain = [_plain(item, "$oid") for item in self._list(field)]
        return Row({field: plain}, self.place, self.problems).texts(field, most=100)

    def moment(self, field: str) -> datetime | None:
        """Return a time, in UTC unless it names a zone; None if missing."""
        value = self.fields.get(field)
        plain = _plain(value, "$date")
        if plain is None or plain == "":
            return None
        try:
            moment = datetime.fromisoformat(plain)
        except (TypeError, ValueError):
            self.note(field, f"expected a date such as 2025-12-19 20:37, not {excerpt(value)}.")
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _list(self, field: str) -> list[Any]:
        return self._typed(field, list, "a list") or []

    def _row(self, value: Any, field: str) -> "Row":
        if not isinstance(value, dict):
            self.note(field, f"expected an object, not {excerpt(value)}.")
            value = {}
        return Row(value, f"{self.place}.{field}", self.problems)


def _plain(value: Any, key: str) -> Any:
    return value.get(key, value) if isinstance(value, dict) else value


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
    places = [(f"{name}[{number}]", item) for number, item in enumerate(value)]
    problems += [
        Problem(place, f"expected an object, not {excerpt(item)}.")
        for place, item in places
        if not isinstance(item, dict)
    ]
    return [Row(item, place, problems) for place, item in places if isinstance(item, dict)]
