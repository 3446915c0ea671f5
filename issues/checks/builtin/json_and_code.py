"""Checks for JSON and code in the answer."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from issues.checks import json_path, json_text, schema
from issues.checks.check import Arguments, Finding, family, yes_or_no
from issues.checks.code_blocks import code_blocks
from issues.checks.quoting import quoted, quoted_all, shown
from issues.checks.subject import Material
from issues.checks.time_limit import Deadline

check = family("JSON and code")

NO_JSON = "The answer is not JSON."


class Schema(Arguments):
    schema_: Annotated[dict[str, Any], AfterValidator(schema.readable)] = Field(
        alias="schema", title="Schema", description="A JSON Schema; nothing is fetched for it."
    )


class PathValue(Arguments):
    path: Annotated[str, AfterValidator(json_path.readable)] = Field(
        title="Path", description="A JSONPath (RFC 9535), such as $.items[0].name."
    )
    value: Any = Field(title="Value", description="As JSON: put text in quotes.")


class CodeBlock(Arguments):
    language: str = Field(
        "", title="Language", description="As after the fence; leave empty for any."
    )


@check("Is JSON", Arguments)
def is_json(arguments: Arguments, material: Material) -> Finding:
    """The whole answer is a JSON object or list. JSON in a code block does not count."""
    try:
        value = json_text.parsed(material.text)
    except ValueError:
        return Finding(0.0, NO_JSON)
    is_shown = isinstance(value, dict | list)
    return yes_or_no(is_shown, "Is JSON.", "Is a single JSON value, not an object or list.")


@check("Fits a JSON Schema", Schema)
def json_schema(arguments: Schema, material: Material) -> Finding:
    """The answer, or the only code block in it, is JSON that fits the schema."""
    try:
        value = json_text.document(material.text)
    except ValueError:
        return Finding(0.0, NO_JSON)
    problem = schema.problem_of(arguments.schema_, value, Deadline())
    return yes_or_no(not problem, "Fits the schema.", f"Does not fit the schema: {problem}.")


@check("JSON path equals", PathValue)
def json_path_equals(arguments: PathValue, material: Material) -> Finding:
    """The path leads to this value (or one of several) in the answer or its only code block."""
    try:
        value = json_text.document(material.text)
    except ValueError:
        return Finding(0.0, NO_JSON)
    if not isinstance(value, dict | list):
        return Finding(0.0, "Is a single JSON value, not an object or list.")
    found = json_path.values_at(arguments.path, value, Deadline())
    is_shown = any(json_text.alike(item, arguments.value) for item in found)
    found_text = f"to {shown(found)}" if found else "nowhere"
    yes = f"{arguments.path} leads to {shown(arguments.value)}."
    return yes_or_no(is_shown, yes, f"{arguments.path} leads {found_text}.")


@check("Contains a code block", CodeBlock)
def contains_code_block(arguments: CodeBlock, material: Material) -> Finding:
    """The answer contains a fenced code block, in this language if given."""
    languages = [block.language for block in code_blocks(material.text)]
    wanted = arguments.language.strip().lower()
    is_shown = wanted in languages if wanted else bool(languages)
    named = quoted_all(sorted(set(languages) - {""}))
    kind = f" in {quoted(wanted)}" if wanted else ""
    others = f"; others are in {named}" if named else ""
    return yes_or_no(
        is_shown, f"Contains a code block{kind}.", f"Contains no code block{kind}{others}."
    )
