"""JSON Schema without network access, and with a time limit for hostile schemas."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from issues.checks.check import CheckError
from issues.checks.javascript_regex import compiled, search
from issues.checks.json_text import frozen
from issues.checks.quoting import quoted, shortened, shown
from issues.checks.time_limit import Deadline

LONGEST = 50_000

DATA = {"const", "default", "enum", "examples"}
"""Keywords whose values are data, not schemas."""

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

Keyword = Callable[[Any, Any, Any, Any], Any]


def readable(schema: dict[str, Any]) -> dict[str, Any]:
    """Validate a schema.

    Raises:
        ValueError: It is invalid, or a reference leads outside; the message says why.
    """
    from jsonschema import SchemaError

    if (length := len(json.dumps(schema, ensure_ascii=False))) > LONGEST:
        raise ValueError(f"the schema has {length:,} characters; the maximum is {LONGEST:,}.")
    _refuse_unreadable(schema)
    try:
        _dialect(schema).check_schema(schema)
    except SchemaError as error:
        place = error.json_path.removeprefix("$").lstrip(".")
        where = f" at {quoted(place)}" if place else ""
        raise ValueError(f"not a JSON Schema{where}: {shortened(error.message, 200)}.") from error
    return schema


def _dialect(schema: dict[str, Any]) -> Any:
    """Return the validator of the schema's dialect, by default the newest."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    named = schema.get("$schema", "")
    if not isinstance(named, str):
        raise ValueError(f"“$schema” is {shown(named)}. Use a URL.")
    return validator_for(schema, default=Draft202012Validator)


def _refuse_unreadable(schema: dict[str, Any]) -> None:
    from jsonschema_specifications import REGISTRY
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    parts = list(_parts(schema))
    names = {part["$id"] for part in parts if isinstance(part.get("$id"), str)}
    for part in parts:
        own, named = part.get("pattern"), part.get("patternProperties")
        for pattern in [*(named if isinstance(named, dict) else ()), own]:
            if isinstance(pattern, str):
                compiled(pattern)
        for keyword in REFERENCES:
            if not isinstance(reference := part.get(keyword), str):
                continue
            address = reference.partition("#")[0]
            is_known = address in REGISTRY or any(name.endswith(address) for name in names)
            if address and not is_known:
                never = "which is never fetched. Put it under $defs."
                raise ValueError(f"{keyword} names {quoted(reference)}, {never}")
            if reference.startswith("#/") and not names:
                registry = Registry().with_resource("", DRAFT202012.create_resource(schema))
                try:
                    registry.resolver().lookup(reference)
                except Unresolvable as error:
                    lost = f"{keyword} names {quoted(reference)}, which does not exist."
                    raise ValueError(lost) from error
    if any("unevaluatedProperties" in part for part in parts) and any(
        "patternProperties" in part for part in parts
    ):
        raise ValueError("patternProperties cannot be combined with unevaluatedProperties here.")


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the schema and all objects in it that may be schemas."""
    if isinstance(schema, dict):
        yield schema
        for name, value in schema.items():
            if name not in DATA:
                yield from _parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _parts(value)


def problem_of(schema: dict[str, Any], value: Any, deadline: Deadline) -> str:
    """Return where and why a value does not fit the schema; "" if it fits.

    Raises:
        CheckError: It took too long, or a reference leads nowhere.
        RecursionError: The value or the schema is nested too deeply, or refers to itself.
    """
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    # With a registry of its own, the validator fetches nothing.
    validator = _within(_dialect(schema), deadline)(schema, registry=REGISTRY)
    try:
        error = next(validator.iter_errors(value), None)
    except Unresolvable as failure:
        raise CheckError(f"The schema has an unresolved reference: {failure}.") from failure
    return f"{error.json_path}: {shortened(error.message, 200)}" if error else ""


def _within(dialect: Any, deadline: Deadline) -> Any:
    """Return the validator with a time limit in every keyword and pattern."""
    from jsonschema import ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not search(pattern, value, deadline):
            yield ValidationError(f"{shown(value)} does not match {shown(pattern)}")

    def pattern_properties(validator: Any, parts: Any, value: Any, schema: Any) -> Iterator[Any]:
        for pattern, part in parts.items() if isinstance(value, dict) else ():
            for name in value:
                if search(pattern, name, deadline):
                    yield from validator.descend(value[name], part, path=name, schema_path=pattern)

    def additional_properties(validator: Any, part: Any, value: Any, schema: Any) -> Iterator[Any]:
        patterns = schema.get("patternProperties", {})
        for name in value if isinstance(value, dict) else ():
            if name in schema.get("properties", {}):
                continue
            if any(search(pattern, name, deadline) for pattern in patterns):
                continue
            if part is False:
                yield ValidationError(f"{shown(name)} is not among the properties")
            yield from validator.descend(value[name], part, path=name)

    def unique_items(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        if not wanted or not isinstance(value, list):
            return
        seen = set()
        for item in value:  # numbers in an answer can be slow to compare
            deadline.left()
            seen.add(frozen(item))
        if len(seen) < len(value):
            yield ValidationError("The items are not all different")

    own: dict[str, Keyword] = {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
        "uniqueItems": unique_items,
    }
    keywords = {**dialect.VALIDATORS, **own}
    return extend(dialect, {name: _timed(keyword, deadline) for name, keyword in keywords.items()})


def _timed(keyword: Keyword, deadline: Deadline) -> Keyword:
    def timed(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        deadline.left()
        return keyword(validator, value, instance, schema)

    return timed
