"""Form fields for the arguments of a check, and parsing of their texts. Pure.

Fields are built from the check's JSON Schema, so a new check needs nothing here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import parse
from issues.checks import CHECKS

MAX_DIGITS = 18
"""Maximum digits of a number if a name is allowed; longer ones are names."""


class Kind(StrEnum):
    """Input type of an argument."""

    TEXT = "text"
    LINES = "lines"
    WHOLE = "whole"
    NUMBER = "number"
    YES_NO = "yes_no"
    NAME = "name"
    """A text, or a number if written as one."""
    JSON = "json"


@dataclass(frozen=True)
class Argument:
    """An argument of a check. `default` is None if it is required or has none."""

    name: str
    title: str
    kind: Kind
    help: str
    required: bool
    default: Any = None


class Unreadable(ValueError):
    """Text that is no value of this kind; the message says what to enter."""


def arguments_of(check_name: str) -> list[Argument]:
    """Return a check's arguments in form order; none for an unknown check."""
    check = CHECKS.get(check_name)
    if check is None:
        return []
    required = check.arguments.get("required", [])
    return [
        Argument(
            name=name,
            title=schema.get("title", name),
            kind=_kind(schema),
            help=_help(schema),
            required=name in required,
            default=schema.get("default"),
        )
        for name, schema in check.arguments["properties"].items()
    ]


def form_value(argument: Argument, value: Any) -> str | bool:
    """Return a stored value as form text; `read` is the inverse."""
    if argument.kind is Kind.YES_NO:
        return bool(value)
    if argument.kind is Kind.LINES:
        return _line_values(value)
    if value is None and argument.kind is not Kind.JSON:
        return ""
    if argument.kind in (Kind.TEXT, Kind.NAME) and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def read(argument: Argument, text: str) -> Any:
    """Parse the input.

    Raises:
        Unreadable: It is no number, no JSON, or cannot be stored.
    """
    value: Any = text
    match argument.kind:
        case Kind.LINES:
            value = _lines(text)
        case Kind.WHOLE | Kind.NUMBER:
            value = _number(text.strip(), argument.kind)
        case Kind.NAME:
            is_number = text.isascii() and text.strip().isdecimal() and len(text) <= MAX_DIGITS
            value = int(text) if is_number else text
        case Kind.JSON | Kind.YES_NO:
            value = _json(text)
    if unstorable(value):
        raise Unreadable(f"It {REASON}")
    return value


def collected(check_name: str, given: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments to store, without defaults.

    Args:
        check_name: Name of the check.
        given: Values by name.
        kept: Values stored before; an explicit default or empty text among them stays.
    """
    found = {}
    for argument in arguments_of(check_name):
        name, default = argument.name, argument.default
        empty = kept.get(name) if kept.get(name) in ("", []) else default
        value = given.get(name, empty)
        was_written = name in kept and kept[name] == value
        if was_written or (name in given and (argument.required or value != default)):
            found[name] = value
    return found


def _kind(schema: Mapping[str, Any]) -> Kind:
    types = [part["type"] for part in schema.get("anyOf", [schema]) if "type" in part]
    known = [name for name in types if name != "null"]
    if known == ["array"]:
        items = schema.get("items") or next(p["items"] for p in schema["anyOf"] if "items" in p)
        return Kind.LINES if items.get("type") == "string" else Kind.JSON
    if set(known) == {"integer", "string"}:
        return Kind.NAME
    return _KINDS.get(known[0], Kind.JSON) if len(known) == 1 else Kind.JSON


_KINDS = {
    "string": Kind.TEXT,
    "integer": Kind.WHOLE,
    "number": Kind.NUMBER,
    "boolean": Kind.YES_NO,
}


def _help(schema: Mapping[str, Any]) -> str:
    description: str = schema.get("description", "")
    kind = _kind(schema)
    if kind is Kind.LINES:
        return f"{description} One per line.".strip()
    needs_hint = kind is Kind.JSON and "JSON" not in description
    return f"{description} As JSON.".strip() if needs_hint else description


def _line_values(value: Any) -> str:
    """Return one item per line, or a JSON list if lines would not read back the same."""
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    text = "\n".join(value) if is_texts else ""
    return text if value and _lines(text) == value else json.dumps(value, ensure_ascii=False)


def _lines(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return [line for line in text.split("\n") if line.strip()]


def _number(text: str, kind: Kind) -> int | float:
    try:
        return int(text) if kind is Kind.WHOLE else float(text)
    except ValueError as error:
        raise Unreadable(
            f"“{text}” is not a {'whole number' if kind is Kind.WHOLE else 'number'}."
        ) from error


def _json(text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise Unreadable(f"This is not JSON: {error}.") from error
    except RecursionError as error:
        raise Unreadable("This JSON is nested too deeply.") from error
