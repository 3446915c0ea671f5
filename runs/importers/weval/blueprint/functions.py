"""Weval's point functions ↔ our checks. Pure.

Weval has a function for each variant of a check (`not_icontains_any_of`), we have switches.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

from evalhub.values.strict_json import excerpt
from runs.importers.weval.blueprint.records import Json, plain_number

OWN = "evalhub"
"""Function that stands for checks that Weval does not have."""

CANNOT_RUN = ("js", "call", "factcheck")
TOOL_ARGUMENTS = "tool_args_match"
"""Function whose condition may be JavaScript, which becomes a check of that kind."""


SWITCHES = ("negate", "ignore_case")


class Call(NamedTuple):
    """A check with its arguments."""

    check: str
    arguments: Json


class WrongArgument(ValueError):
    """Arguments of another form; the message names the expected and the given ones."""


def read_function(name: str, argument: Any) -> Call | None:
    """Return the check of a function; None if there is no such function.

    Raises:
        WrongArgument: The argument does not fit it.
    """
    if name == OWN:
        return _own(argument)
    if (
        name == TOOL_ARGUMENTS
        and isinstance(argument, dict)
        and isinstance(argument.get("where"), str)
    ):
        return Call("js", {"source": f"{TOOL_ARGUMENTS}: {json.dumps(argument)}"})
    found = _BY_NAME.get(name)
    if found is None:
        return None
    read = _read_tool_arguments if found.check == "tool_arguments" else _read
    return Call(found.check, {**read(found.check, argument), **found.arguments})


def write_function(call: Call) -> tuple[str, Any]:
    """Return the function and argument that read back as this check."""
    for name, argument in _equivalent_functions(call):
        with suppress(WrongArgument):
            if read_function(name, argument) == call:
                return name, argument
    return OWN, {"check": call.check, "arguments": call.arguments}


def _equivalent_functions(call: Call) -> Iterator[tuple[str, Any]]:
    source = str(call.arguments.get("source"))
    if call.check == "js" and source.startswith(f"{TOOL_ARGUMENTS}: {{"):
        with suppress(ValueError):
            yield TOOL_ARGUMENTS, json.loads(source.removeprefix(f"{TOOL_ARGUMENTS}: "))
    switches = tuple(key for key in SWITCHES if call.arguments.get(key) is True)
    name = _NAMES.get((call.check, switches))
    if name:
        plain = {key: value for key, value in call.arguments.items() if key not in switches}
        yield name, _written(call.check, plain)


def needs_argument(name: str) -> bool:
    """Return whether this function cannot be written alone, as text such as `$is_json`."""
    found = _BY_NAME.get(name)
    return name == OWN or (found is not None and found.check not in ("is_json", "factcheck"))


def _own(argument: Any) -> Call:
    known = isinstance(argument, dict) and set(argument) <= {"check", "arguments"}
    if not known or not isinstance(argument.get("check"), str):
        raise WrongArgument(f"expected a check with its arguments, not {excerpt(argument)}.")
    arguments = argument.get("arguments", {})
    if not isinstance(arguments, dict):
        raise WrongArgument(f"expected arguments by their names, not {excerpt(arguments)}.")
    return Call(argument["check"], dict(arguments))


# Arguments ---------------------------------------------------------------------------------------

LEAST = "a number and a list of texts, such as [2, [a, b, c]]"
RANGE = "two numbers, such as [5, 15]"
_ARGUMENTS: dict[str, tuple[str, dict[str, type]]] = {
    **{name: ("a text", {"text": str}) for name in ("contains", "contains_word")},
    **{name: ("a text", {"text": str}) for name in ("starts_with", "ends_with")},
    **{name: ("a list of texts", {"texts": list}) for name in ("contains_any", "contains_all")},
    "contains_at_least": (LEAST, {"least": float, "texts": list}),
    "matches": ("a text", {"pattern": str}),
    "matches_all": ("a list of texts", {"patterns": list}),
    "matches_at_least": (LEAST, {"least": float, "patterns": list}),
    "word_count": (RANGE, {"least": float, "most": float}),
    "is_json": ("", {}),
    "tool_called": ("a text", {"tool": str}),
    "tool_call_count": (RANGE, {"least": float, "most": float, "tool": str}),
    "tool_call_order": ("a list of texts", {"tools": list}),
    "js": ("a text", {"source": str}),
    "call": ("anything", {"source": object}),
    "factcheck": ("anything", {"source": object}),
}
"""What an argument is to be, and what it becomes; several stand in a list in Weval."""


def _fits(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


def _read(check: str, argument: Any) -> Json:
    expected, kinds = _ARGUMENTS[check]
    values = argument if len(kinds) > 1 and isinstance(argument, list) else [argument]
    if check == "tool_call_count" and len(values) == 2:  # of any tool
        kinds = {name: kind for name, kind in kinds.items() if name != "tool"}
    fits = len(values) == len(kinds) and all(map(_fits, values, kinds.values()))
    _expect(fits or not kinds, expected, argument)
    pairs = zip(kinds.items(), values, strict=False)
    return {name: plain_number(one) if kind is float else one for (name, kind), one in pairs}


def _written(check: str, arguments: Json) -> Any:
    """Return the arguments as Weval has them; what it cannot have reads back as another check."""
    if check == "tool_arguments":
        normal = arguments.get("normalize_whitespace")
        more = {"normalizeWhitespace": True} if normal else {}
        return {"name": arguments.get("tool"), "where": arguments.get("where"), **more}
    kinds = _ARGUMENTS[check][1]
    values = [arguments[name] for name in kinds if name in arguments]
    return values if len(kinds) > 1 else next(iter(values), None)


def _read_tool_arguments(check: str, argument: Any) -> Json:
    known = {"name", "where", "normalizeWhitespace"}
    fits = isinstance(argument, dict) and {"name"} <= set(argument) <= known
    fits = fits and isinstance(argument["name"], str)
    _expect(fits, "an object with name and where", argument)
    where = argument.get("where", {})
    _expect(isinstance(where, dict), "an object as where (no JavaScript is run here)", where)
    normal = argument.get("normalizeWhitespace", False)
    _expect(isinstance(normal, bool), "true or false as normalizeWhitespace", normal)
    switch = {"normalize_whitespace": True} if normal else {}
    return {"tool": argument["name"], "where": dict(where), **switch}


def _expect(met: bool, expected: str, argument: Any) -> None:
    if not met:
        raise WrongArgument(f"expected {expected}, not {excerpt(argument)}.")


# Names -------------------------------------------------------------------------------------------


_TEXTUAL = {
    "contains": "contains",
    "contains_any_of": "contains_any",
    "contains_all_of": "contains_all",
    "contains_at_least_n_of": "contains_at_least",
    "contains_word": "contains_word",
    "starts_with": "starts_with",
    "ends_with": "ends_with",
    "matches": "matches",
    "matches_all_of": "matches_all",
    "matches_at_least_n_of": "matches_at_least",
}
_OTHERS = {
    **{name: name for name in ("is_json", "js", "call", "factcheck")},
    **{name: name for name in ("tool_called", "tool_call_order")},
    "word_count_between": "word_count",
    "tool_args_match": "tool_arguments",
    "tool_call_count_between": "tool_call_count",
    "expr": "js",
    "external": "call",
}
_NOT_NEGATED = ("contains_at_least", "matches_all", "matches_at_least")


def _names() -> dict[str, Call]:
    """Return the check and switches of all functions, also in their singular forms."""
    found = {name: Call(check, {}) for name, check in _OTHERS.items()}
    for (name, check), negate, ignore in product(_TEXTUAL.items(), (False, True), (False, True)):
        if not (negate and check in _NOT_NEGATED):
            switches = zip(SWITCHES, (negate, ignore), strict=True)
            start = f"{'not_' * negate}{'i' * ignore}"
            singular = name.replace("contains", "contain").replace("matches", "match")
            call = Call(check, {switch: True for switch, is_on in switches if is_on})
            found[start + name] = found[start + singular] = call
    return found


_BY_NAME = _names()
_PREFERRED = {"imatches_all_of": "imatch_all_of", "imatches_at_least_n_of": "imatch_at_least_n_of"}
"""Documented names that are not registered → registered ones."""


_NAMES: dict[tuple[str, tuple[str, ...]], str] = {}
"""The function to write for each check with its switches."""

for _name, _call in _BY_NAME.items():
    _NAMES.setdefault((_call.check, tuple(_call.arguments)), _PREFERRED.get(_name, _name))
