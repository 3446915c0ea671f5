"""Foreign YAML and JSON → plain values with their lines. Pure.

Only plain values are made, never objects. Scalars are read as YAML 1.2 has it, in which blueprints
are written: `yes`, `12:30` and `2025-01-01` are text. Size, depth and what aliases expand to are
bounded, so that a small file cannot fill the memory.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from runs.limits import MAX_YAML_CHARACTERS

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # where PyYAML was built without its C library
    from yaml import SafeLoader  # type: ignore[assignment]

from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import excerpt, parse

MAX_EXPANDED = 8_000_000
"""Characters of a file, with its aliases written out; each value counts as `VALUE_TAG` more."""

VALUE_TAG = 10

MAX_DEPTH = 40
TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep."
TAG = "tag:yaml.org,2002:"
MERGE = "<<"
SCALARS = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")),
    ("int", re.compile(r"(?:[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15})\Z"), None),
    (
        "float",
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?\Z|[-+]?[0-9]+[eE][-+]?[0-9]+\Z"
        ),
        None,
    ),
)
"""YAML tags, the pattern of their scalars, and their first characters."""

NUMBER_STARTS = list("-+.0123456789")


class Fields(dict[str, Any]):
    """A mapping with the `line` of its start and the `lines` of its keys; None if unknown."""

    line: int | None = None
    lines: Mapping[str, int] = MappingProxyType({})


class Items(list[Any]):
    """A list with the `line` of its start and the `lines` of its items; empty if unknown."""

    line: int | None = None
    lines: Sequence[int] = ()


class Fault(NamedTuple):
    """A problem of a file and its line; None if unknown."""

    line: int | None
    message: str


class YamlError(ValueError):
    """A file that cannot be read at all."""

    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(line, message)


class Loader(SafeLoader):
    """Loader that reads scalars as YAML 1.2 does."""

    yaml_implicit_resolvers: dict[str, Any] = {}


def add_scalars(kind: Any) -> None:
    """Register YAML 1.2 scalars with a loader or dumper."""
    for name, pattern, starts in SCALARS:
        kind.add_implicit_resolver(TAG + name, pattern, starts or NUMBER_STARTS)


add_scalars(Loader)


def documents(text: str, *, is_json: bool = False) -> tuple[list[Any], list[Fault]]:
    """Return the nonempty documents of a file, and their problems.

    Raises:
        YamlError: Nothing can be read.
    """
    if len(text) > MAX_YAML_CHARACTERS:
        raise YamlError(None, f"has {len(text)} characters; the limit is {MAX_YAML_CHARACTERS}.")
    faults: list[Fault] = []
    found = [_json(text)] if is_json else list(_yaml(text, faults))
    faults += [Fault(None, f"{where or 'it'} {REASON}") for where in unstorable(found)]
    return [document for document in found if document is not None], faults


# JSON --------------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    try:
        return parse(text, object_pairs_hook=_pairs)
    except RecursionError:
        raise YamlError(None, "is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise YamlError(error.lineno, f"is not JSON: {error.msg}.") from error
    except ValueError as error:
        raise YamlError(None, f"is not JSON: {error}.") from error


def _pairs(pairs: list[tuple[str, Any]]) -> Fields:
    fields = Fields(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {excerpt(twice)} occurs twice in one object")
    return fields


# YAML --------------------------------------------------------------------------------------------


def _yaml(text: str, faults: list[Fault]) -> Iterator[Any]:
    try:
        _check_depth(text)
        reader = _Reader(faults)
        for node in yaml.compose_all(text, Loader=Loader):
            yield reader.value(node, 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it cannot be read"
        hint = " Put text that holds a colon in quotes." if "mapping values" in problem else ""
        message = f"is not YAML: {problem}.{hint}"
        raise YamlError(mark.line + 1 if mark else None, message) from error
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0) or 0
        line = text[:position].count("\n") + 1
        raise YamlError(line, f"is not YAML: {getattr(error, 'reason', error)}.") from error


def _check_depth(text: str) -> None:
    """Check the depth first, for composing is recursive."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            mark = event.start_mark
            raise YamlError(mark.line + 1 if mark else None, TOO_DEEP)


class _Reader:
    """Conversion of nodes to plain values; aliases are expanded within the size limit."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        self.room = MAX_EXPANDED

    def value(self, node: Any, depth: int) -> Any:
        line = node.start_mark.line + 1
        self.room -= VALUE_TAG + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        if depth > MAX_DEPTH:  # an alias within what it stands for
            raise YamlError(line, TOO_DEEP)
        if self.room < 0:
            raise YamlError(line, "grows too large when its aliases are written out.")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if isinstance(node, yaml.SequenceNode):
            return self._items(node, line, depth)
        return self._fields(node, line, depth)

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        kind = node.tag.removeprefix(TAG)
        try:
            return _plain(kind, node.value)
        except ValueError:
            name = node.tag if kind == node.tag else f"!!{kind}"
            text = excerpt(node.value)
            self.faults.append(Fault(line, f"{text} cannot be read with the tag {name}."))
            return node.value

    def _items(self, node: yaml.SequenceNode, line: int, depth: int) -> Items:
        self._check_tag(node, "seq", line)
        items = Items(self.value(item, depth + 1) for item in node.value)
        items.line, items.lines = line, [item.start_mark.line + 1 for item in node.value]
        return items

    def _fields(self, node: yaml.MappingNode, line: int, depth: int) -> Fields:
        self._check_tag(node, "map", line)
        fields, merged, lines = Fields(), Fields(), dict[str, int]()
        fields.line, fields.lines = line, lines
        for key_node, value_node in node.value:
            key = self._key(key_node)
            value = self.value(value_node, depth + 1)
            if key == MERGE and not key_node.style:
                self._merge(value, merged, key_node)
                continue
            if key in fields:
                self._fault(key_node, f"the key {excerpt(key)} occurs twice in one object.")
            fields[key], lines[key] = value, key_node.start_mark.line + 1
        for key in [key for key in merged if key not in fields]:
            fields[key], lines[key] = merged[key], line
        return fields

    def _key(self, node: Any) -> str:
        if isinstance(node, yaml.ScalarNode):
            self.room -= len(node.value)
            return str(node.value)
        raise YamlError(node.start_mark.line + 1, "has a list or an object as a key.")

    def _merge(self, value: Any, merged: Fields, node: Any) -> None:
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, Fields):
                self._fault(node, f"expected objects to merge, not {excerpt(part)}.")
                continue
            for key in [key for key in part if key not in merged]:
                merged[key] = part[key]

    def _check_tag(self, node: Any, expected: str, line: int) -> None:
        if node.tag != TAG + expected:
            name = node.tag.replace(TAG, "!!")
            self.faults.append(Fault(line, f"the tag {name} is not supported."))

    def _fault(self, node: Any, message: str) -> None:
        self.faults.append(Fault(node.start_mark.line + 1, message))


def _plain(kind: str, text: str) -> Any:
    """Return the value of a scalar.

    Raises:
        ValueError: The tag is none of YAML's plain ones, or the text is none of its values.
    """
    if kind == "str":
        return text
    pattern = next((pattern for name, pattern, _ in SCALARS if name == kind), None)
    if pattern is None or not pattern.match(text):
        raise ValueError(text)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    number = float(text)
    return number if isfinite(number) else text
