"""Checks of tool calls, real or spelled out in the text."""

from typing import Any

from pydantic import Field

from issues.checks.builtin.counts import Range
from issues.checks.check import Arguments, Finding, family, yes_or_no
from issues.checks.json_text import alike
from issues.checks.quoting import quoted, quoted_all, shown
from issues.checks.subject import Material

check = family("Tools")


class Tool(Arguments):
    tool: str = Field(min_length=1, title="Tool", description="Name of the tool.")


class ToolArguments(Tool):
    where: dict[str, Any] = Field(
        title="Where",
        description="Arguments that a single call includes; objects are matched in depth.",
    )
    normalize_whitespace: bool = Field(
        False, title="Ignore white space", description="Ignores white space in texts."
    )


class CallCount(Range):
    tool: str | None = Field(
        None, title="Tool", description="Leave empty to count calls of any tool."
    )


class Order(Arguments):
    tools: list[str] = Field(min_length=1, title="Tools", description="Names, in order.")


@check("Tool called", Tool)
def tool_called(arguments: Tool, material: Material) -> Finding:
    """The tool was called at least once."""
    called = [call.name for call in material.calls]
    tool = quoted(arguments.tool)
    return yes_or_no(arguments.tool in called, f"Called {tool}.", f"{_called(called)}, not {tool}.")


@check("Tool called with arguments", ToolArguments)
def tool_arguments(arguments: ToolArguments, material: Material) -> Finding:
    """At least one call of the tool includes these arguments."""
    given = [call.arguments for call in material.calls if call.name == arguments.tool]
    no_spaces = arguments.normalize_whitespace
    fits = any(_has(value, arguments.where, no_spaces) for value in given)
    yes = f"Called {quoted(arguments.tool)} with these arguments."
    no = f"Arguments given: {shown(given)}." if given else f"{quoted(arguments.tool)} not called."
    return yes_or_no(fits, yes, no)


@check("Number of tool calls", CallCount)
def tool_call_count(arguments: CallCount, material: Material) -> Finding:
    """This many calls were made, of one tool or of all."""
    called = [call.name for call in material.calls if arguments.tool in (None, call.name)]
    explanation = f"Calls: {len(called)}; required: {arguments.in_words()}."
    return yes_or_no(arguments.holds(len(called)), explanation, explanation)


@check("Tools called in order", Order)
def tool_call_order(arguments: Order, material: Material) -> Finding:
    """These tools were called in this order; others may come between."""
    called = [call.name for call in material.calls]
    rest = iter(called)
    in_order = all(tool in rest for tool in arguments.tools)
    explanation = f"{_called(called)}."
    return yes_or_no(in_order, explanation, explanation)


def _called(names: list[str]) -> str:
    return f"Called {quoted_all(names)}" if names else "Called no tool"


def _has(given: Any, wanted: Any, no_spaces: bool) -> bool:
    """Return True if everything required is given, in depth: objects by key, lists by position."""
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            name in given and _has(given[name], value, no_spaces) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(given, list) and all(
            place < len(given) and _has(given[place], value, no_spaces)
            for place, value in enumerate(wanted)
        )
    if no_spaces and isinstance(wanted, str) and isinstance(given, str):
        return "".join(given.split()) == "".join(wanted.split())
    return alike(given, wanted)
