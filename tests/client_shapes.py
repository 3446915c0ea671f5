"""Writes `evalhub_client/shapes.py` from the API's schema: `python -m tests.client_shapes`.

`tests/evalhub_client/test_shapes.py` fails where the file says something else than the schema.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "evalhub_client" / "shapes.py"
ROOTS = (
    *("LaunchSpecRequest", "Launch", "Run", "RunProgress", "Result", "GateResult"),
    *("ImportedAnswerBody", "Test", "FeedbackBatchResult"),
)
"""Schemas that the client names; those that they refer to come along."""

PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
    "array": "list[Any]",
}
HEAD = '''"""Shapes of the API's JSON; `python -m tests.client_shapes` writes this file."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

'''


def source_of(schemas: Mapping[str, Any]) -> str:
    """Return the module that declares the roots and what they refer to."""
    names: list[str] = []
    waiting = list(ROOTS)
    while waiting:
        if (name := waiting.pop(0)) not in names:
            names.append(name)
            waiting += references(schemas[name])
    # Choices are aliases, which come before their uses.
    names.sort(key=lambda name: ("properties" in schemas[name], name))
    return HEAD + "".join(declaration(name, schemas[name]) for name in names)


def references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(target := schema.get("$ref"), str):
            yield target.rpartition("/")[2]
        for inner in schema.values():
            yield from references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from references(inner)


def declaration(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return f"{name} = {type_of(schema)}\n"
    required = schema.get("required", ())
    fields = [
        f"    {field}: {type_of(of) if field in required else f'NotRequired[{type_of(of)}]'}\n"
        for field, of in schema["properties"].items()
    ]
    return f"\n\nclass {name}(TypedDict):\n{''.join(fields)}\n"


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type of the values that a schema allows."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(type_of(one) for one in schema[key]))
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    kinds = schema.get("type", [])
    return (
        " | ".join(_one(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))
        or "Any"
    )


def _one(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array" and schema.get("items"):
        return f"list[{type_of(schema['items'])}]"
    if kind == "object" and isinstance(inner := schema.get("additionalProperties"), Mapping):
        return f"dict[str, {type_of(inner) if inner else 'Any'}]"
    return PLAIN[kind]


def is_current(schemas: Mapping[str, Any]) -> bool:
    """Return whether the file declares what the schema does, however it is formatted."""
    return ast.dump(ast.parse(FILE.read_text())) == ast.dump(ast.parse(source_of(schemas)))


def main() -> None:
    import django

    django.setup()
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(request=None, public=True)
    FILE.write_text(source_of(schema["components"]["schemas"]))
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(FILE)], check=True)


if __name__ == "__main__":
    from tests.environment import clean

    clean()
    main()
