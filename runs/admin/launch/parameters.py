"""Call parameters as form rows of name, type and value."""

import json
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from evalhub.llm.parameters import parameter_problems
from evalhub.values.strict_json import parse

TYPES = {
    "text": "text",
    "number": "number",
    "integer": "whole number",
    "switch": "switch",
    "json": "JSON",
}
ON, OFF = {"true", "on", "yes", "1"}, {"false", "off", "no", "0"}

USUAL = {
    "temperature": "number",
    "top_p": "number",
    "max_tokens": "integer",
    "seed": "integer",
    "presence_penalty": "number",
    "frequency_penalty": "number",
    "stop": "json",
    "reasoning_effort": "text",
}
"""Common parameters, with their type."""


class Row(NamedTuple):
    """A parameter as entered."""

    name: str = ""
    type: str = "number"
    value: str = ""


def rows_of(params: dict[str, Any]) -> list[Row]:
    """Return stored parameters as rows."""
    types = {bool: "switch", int: "integer", float: "number", str: "text"}
    rows = []
    for name, value in params.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        rows.append(Row(name, types.get(type(value), "json"), text))
    return rows


def rows_in(names: Sequence[str], types: Sequence[str], values: Sequence[str]) -> list[Row]:
    """Return the rows of a form, which sends them in columns; skip empty ones."""
    rows = (Row(*map(str.strip, row)) for row in zip(names, types, values, strict=False))
    return [row for row in rows if row.name or row.value]


def read_rows(rows: Iterable[Row]) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that could be read, and the problems of the others."""
    values: dict[str, Any] = {}
    problems = []
    for row in rows:
        if not row.name:
            problems.append(f"Name the parameter with the value {row.value!r}.")
        elif row.name in values:
            problems.append(f"The parameter {row.name!r} is given twice.")
        else:
            try:
                values[row.name] = _value(row)
            except ValueError:
                wanted = TYPES.get(row.type, row.type)
                problems.append(f"Parameter {row.name!r}: {row.value!r} is not a {wanted}.")
    return values, problems + parameter_problems(values)


def _value(row: Row) -> Any:
    if row.type == "text":
        return row.value
    if row.type == "integer":
        return int(row.value)
    if row.type == "number" and isfinite(number := float(row.value)):
        return number
    if row.type == "json":
        try:
            return parse(row.value)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
    if row.type == "switch" and row.value.lower() in ON | OFF:
        return row.value.lower() in ON
    raise ValueError(row.type)
