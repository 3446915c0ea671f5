"""Typed access to a mapping of a blueprint that records each problem with its line. Pure."""

import re
from collections.abc import Callable
from typing import Any

from evalhub.values.strict_json import excerpt
from issues.rubrics.scoring import MAX_WEIGHT, MIN_WEIGHT
from runs.importers.weval.blueprint.records import Finding, Json
from runs.importers.weval.blueprint.yaml_reader import Fields, Items

URL = re.compile(r"https?://\S+")


class Log:
    """Findings of one file. A repeated note is counted; problems and warnings are all named."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Finding] = []
        self.warnings: list[Finding] = []
        self._notes: dict[str, Finding] = {}

    def problem(self, line: int | None, prompt: str, message: str) -> None:
        self.problems.append(Finding(self.file, message, line, prompt))

    def warn(self, line: int | None, prompt: str, message: str) -> None:
        self.warnings.append(Finding(self.file, message, line, prompt))

    def note(self, line: int | None, prompt: str, message: str) -> None:
        first = self._notes.get(message) or Finding(self.file, message, line, prompt, more=-1)
        self._notes[message] = first._replace(more=first.more + 1)

    @property
    def notes(self) -> list[Finding]:
        return list(self._notes.values())


class Section:
    """A mapping read by field names; several names are aliases of one field.

    What is missing or of another type is read as empty, and the latter is a problem.
    """

    def __init__(self, fields: Fields, log: Log, prompt: str = "") -> None:
        self.fields = fields
        self.log = log
        self.prompt = prompt
        self._known: set[str] = set()

    def line(self, name: str = "") -> int | None:
        return self.fields.lines.get(name, self.fields.line)

    def problem(self, name: str, message: str) -> None:
        text = f"{name}: {message}" if name else message
        self.log.problem(self.line(name), self.prompt, text)

    def note(self, name: str, message: str) -> None:
        self.log.note(self.line(name), self.prompt, message)

    def given(self, *names: str) -> str:
        """Return the first of these names with a value; "" if none has."""
        self._known.update(names)
        found = [name for name in names if self.fields.get(name) is not None]
        for other in found[1:]:
            self.problem(other, f"means the same as {found[0]}, which is also given: merge them.")
        return found[0] if found else ""

    def value(self, *names: str) -> Any:
        return self.fields.get(self.given(*names))

    def expected(self, name: str, what: str, value: Any) -> None:
        self.problem(name, f"expected {what}, not {excerpt(value)}.")

    def _typed(self, names: tuple[str, ...], kind: type, what: str) -> Any:
        """Return a value of this type; None if missing or of another."""
        name, value = self.given(*names), self.value(*names)
        if value is None or isinstance(value, kind):
            return value
        self.expected(name, what, value)
        return None

    def text(self, *names: str) -> str:
        """Return text as written; "" if missing."""
        return self._typed(names, str, "text") or ""

    def flag(self, name: str) -> bool | None:
        found: bool | None = self._typed((name,), bool, "true or false")
        return found

    def number(self, name: str, least: float, most: float) -> float | None:
        value = self.value(name)
        if value is None or is_number(value, least, most):
            return value  # type: ignore[no-any-return]
        self.expected(name, f"a number from {least:g} to {most:g}", value)
        return None

    def weight(self, *names: str) -> float:
        found = self.number(self.given(*names) or names[0], MIN_WEIGHT, MAX_WEIGHT)
        return 1 if found is None else found

    def items(self, *names: str) -> Items:
        """Return a list; empty if missing."""
        found = self._typed(names, list, "a list (begin each item with a dash)")
        return found if isinstance(found, Items) else Items(found or [])

    def each(
        self, name: str, fits: Callable[[Any], object], what: str, *, or_text: bool = False
    ) -> list[Any]:
        """Return the items of a list that fit; with `or_text`, a text alone is one item."""
        value = self.value(name)
        items = [value] if or_text and isinstance(value, str) else self.items(name)
        for item in items:
            if not fits(item):
                self.expected(name, what, item)
        return [plain(item) for item in items if fits(item)]

    def mapping(self, *names: str) -> Fields:
        """Return an object; empty if missing."""
        return as_fields(self._typed(names, dict, "an object") or {})

    def references(self, *names: str) -> list[Json]:
        """Return each as {"title", "url"}, as far as given; those of all these names together."""
        self._known.update(names)
        given = [name for name in names if self.fields.get(name) is not None]
        found: list[Json] = []
        for name in given:
            if name != given[0]:
                message = f"{name}: means the same as {given[0]}, which is also given: both kept."
                self.log.warn(self.line(name), self.prompt, message)
            found += self._references(name)
        return [one for place, one in enumerate(found) if one not in found[:place]]

    def _references(self, name: str) -> list[Json]:
        value, found = self.fields[name], []
        for item in value if isinstance(value, list) else [value]:
            reference = _reference(item)
            if reference is None:
                self.expected(name, "text, or a title with a url", item)
            elif reference:
                found.append(reference)
        return found

    def rest(self) -> Json:
        """Return fields that were not read and have a value."""
        return {
            name: plain(value)
            for name, value in self.fields.items()
            if name not in self._known and value is not None
        }


def is_number(value: Any, least: float, most: float) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and least <= value <= most


def _reference(item: Any) -> Json | None:
    """Return the title and url of a reference; None if it is none."""
    if isinstance(item, str):
        text = item.strip()
        return {"url" if URL.fullmatch(text) else "title": text} if text else {}
    if not isinstance(item, dict):
        return None
    title, url = item.get("title", item.get("name")), item.get("url")
    if not all(part is None or isinstance(part, str) for part in (title, url)):
        return None
    texts = {"title": (title or "").strip(), "url": (url or "").strip()}
    more = {k: plain(v) for k, v in item.items() if k not in ("title", "name", "url")}
    return {**{key: text for key, text in texts.items() if text}, **more}


def plain(value: Any) -> Any:
    """Return a value without its lines."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def as_fields(value: dict[str, Any]) -> Fields:
    return value if isinstance(value, Fields) else Fields(value)


def line_of(items: Items, number: int) -> int | None:
    """Return the line of an item of a list."""
    return items.lines[number] if number < len(items.lines) else items.line
