"""Values of our own types as JSON text, and back. Pure.

Unlike a pickle, the text can name only dataclasses, named tuples and enums of modules that are
loaded already, so that whoever writes it runs no code.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

SCALARS = {str, int, float, bool, type(None)}


class Unreadable(ValueError):
    """The text is not ours, or of another version of a class."""


def dumps(value: Any) -> str:
    """Return a value as text.

    Raises:
        TypeError: A part is of a type that cannot be read back, which the message names.
    """
    return json.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False)


def loads(text: str) -> Any:
    """Return the value that `dumps` was given; raise Unreadable if that cannot be."""
    try:
        return _value(json.loads(text))
    except (AttributeError, KeyError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def _plain(value: Any) -> Any:
    """Return JSON: an object has one key, which names the type."""
    kind = type(value)
    if isinstance(value, Enum):
        return {"enum": [*_name(kind), _plain(value.value)]}
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if value is None:
        return None
    if kind is list:
        return [_plain(part) for part in value]
    if kind is dict:
        return {"dict": [[_plain(key), _plain(part)] for key, part in value.items()]}
    if is_dataclass(kind):
        parts = {one.name: _plain(getattr(value, one.name)) for one in fields(kind) if one.init}
        return {"class": [*_name(kind), parts]}
    if isinstance(value, tuple) and hasattr(kind, "_asdict"):
        parts = {name: _plain(getattr(value, name)) for name in kind._fields}
        return {"class": [*_name(kind), parts]}
    for name, (of, write, _) in PARTS.items():
        if kind is of:
            return {name: write(value)}
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} cannot be written as typed JSON")


def _value(plain: Any) -> Any:
    kind = type(plain)
    if kind is list:
        return [part if type(part) in SCALARS else _value(part) for part in plain]
    if kind is not dict:
        return plain
    ((name, content),) = plain.items()
    if name == "class":
        module, qualified, parts = content
        values = {
            key: part if type(part) in SCALARS else _value(part) for key, part in parts.items()
        }
        return _record(module, qualified)(**values)
    if name == "dict":
        return {_value(key): _value(part) for key, part in content}
    if name == "enum":
        module, qualified, part = content
        return _enum(module, qualified)(_value(part))
    return PARTS[name][2](content)


def _name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


@cache
def _record(module: str, name: str) -> Any:
    found = _class(module, name)
    is_named_tuple = issubclass(found, tuple) and hasattr(found, "_asdict")
    if not (is_dataclass(found) or is_named_tuple):
        raise Unreadable(f"{module}.{name} is no dataclass or named tuple")
    return found


@cache
def _enum(module: str, name: str) -> Any:
    found = _class(module, name)
    if not issubclass(found, Enum):
        raise Unreadable(f"{module}.{name} is no enum")
    return found


def _class(module: str, name: str) -> Any:
    """Return a class of a loaded module; nothing is imported."""
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    if not isinstance(found, type):
        raise Unreadable(f"{module}.{name} is no class")
    return found


def _list(parts: Any) -> list[Any]:
    return [_plain(part) for part in parts]


PARTS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tuple": (tuple, _list, lambda parts: tuple(_value(parts))),
    "set": (set, _list, lambda parts: set(map(_value, parts))),
    "frozenset": (frozenset, _list, lambda parts: frozenset(map(_value, parts))),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
}
"""Types by name, each written as JSON and read from it."""
