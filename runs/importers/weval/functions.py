"""Weval's point functions ↔ our checks. Pure.

Weval has a function for each variant of a check (`not_icontains_any_of`), we have switches.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from evalhub.values.strict_json import excerpt
from runs.importers.weval.records import Json, plain_number

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


class _Form(NamedTuple):
    """Conversion of a Weval argument to ours, and back (None if it cannot be written)."""

    read: Callable[[Any], Json]
    write: Callable[[Json], Any]


def read_function(name: str, argument: Any) -> Call | None:
    """Return the check of a function; None if there is no such function.

    Raises:
        WrongArgument: The argument does not fit it.
    """
    if name == OWN:
        return _own(argument)
    if name == TOOL_ARGUMENTS and isinstance(argument, dict) and _is_text(argument.get("where")):
        return Call("js", {"source": f"{TOOL_ARGUMENTS}: {json.dumps(argument)}"})
    found = _BY_NAME.get(name)
    if found is None:
        return None
    return Call(found.check, {**_FORMS[found.check].read(argument), **found.arguments})


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
        with suppress(KeyError):
            yield name, _FORMS[call.check].write(plain)


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


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _expect(met: bool, expected: str, argument: Any) -> None:
    if not met:
        raise WrongArgument(f"expected {expected}, not {excerpt(argument)}.")


def _one(key: str, fits: Callable[[Any], bool], expected: str) -> _Form:
    def read(argument: Any) -> Json:
        _expect(fits(argument), expected, argument)
        return {key: argument}

    return _Form(read, lambda arguments: _only(arguments, key)[key])


def _text(key: str) -> _Form:
    return _one(key, _is_text, "a text")


def _texts(key: str) -> _Form:
    return _one(key, _is_texts, "a list of texts")


def _least(key: str) -> _Form:
    def read(argument: Any) -> Json:
        is_pair = isinstance(argument, list) and len(argument) == 2
        fits = is_pair and _is_number(argument[0]) and _is_texts(argument[1])
        _expect(fits, "a number and a list of texts, such as [2, [a, b, c]]", argument)
        return {"least": plain_number(argument[0]), key: list(argument[1])}

    def write(arguments: Json) -> Any:
        found = _only(arguments, "least", key)
        return [found["least"], found[key]]

    return _Form(read, write)


def _range(argument: Any) -> Json:
    is_pair = isinstance(argument, list) and len(argument) == 2
    _expect(is_pair and all(map(_is_number, argument)), "two numbers, such as [5, 15]", argument)
    return {"least": plain_number(argument[0]), "most": plain_number(argument[1])}


def _write_range(arguments: Json) -> Any:
    found = _only(arguments, "least", "most")
    return [found["least"], found["most"]]


def _read_count(argument: Any) -> Json:
    if isinstance(argument, list) and len(argument) == 3 and _is_text(argument[2]):
        return {**_range(argument[:2]), "tool": argument[2]}
    return _range(argument)


def _write_count(arguments: Json) -> Any:
    tool = [arguments["tool"]] if "tool" in arguments else []
    rest = {key: value for key, value in arguments.items() if key != "tool"}
    return [*_write_range(rest), *tool]


def _read_tool_arguments(argument: Any) -> Json:
    known = {"name", "where", "normalizeWhitespace"}
    fits = isinstance(argument, dict) and set(argument) <= known and _is_text(argument.get("name"))
    _expect(fits, "an object with name and where", argument)
    where = argument.get("where", {})
    _expect(isinstance(where, dict), "an object as where (no JavaScript is run here)", where)
    normal = argument.get("normalizeWhitespace", False)
    _expect(isinstance(normal, bool), "true or false as normalizeWhitespace", normal)
    return {
        "tool": argument["name"],
        "where": dict(where),
        **({"normalize_whitespace": True} if normal else {}),
    }


def _write_tool_arguments(arguments: Json) -> Any:
    normal = arguments.get("normalize_whitespace")
    more = {"normalizeWhitespace": True} if normal else {}
    return {"name": arguments["tool"], "where": arguments["where"], **more}


def _only(arguments: Json, *keys: str) -> Json:
    """Return the arguments if they are exactly these.

    Raises:
        KeyError: They are others.
    """
    if set(arguments) != set(keys):
        raise KeyError(*(set(arguments) ^ set(keys)))
    return arguments


_ANYTHING = _one("source", lambda argument: True, "anything")
_FORMS = {
    "contains": _text("text"),
    "contains_any": _texts("texts"),
    "contains_all": _texts("texts"),
    "contains_at_least": _least("texts"),
    "contains_word": _text("text"),
    "starts_with": _text("text"),
    "ends_with": _text("text"),
    "matches": _text("pattern"),
    "matches_all": _texts("patterns"),
    "matches_at_least": _least("patterns"),
    "word_count": _Form(_range, _write_range),
    "is_json": _Form(lambda argument: {}, lambda arguments: _only(arguments) or None),
    "tool_called": _text("tool"),
    "tool_arguments": _Form(_read_tool_arguments, _write_tool_arguments),
    "tool_call_count": _Form(_read_count, _write_count),
    "tool_call_order": _texts("tools"),
    "js": _text("source"),
    "call": _ANYTHING,
    "factcheck": _ANYTHING,
}


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
}
_ALIASES = {"expr": "js", "external": "call"}
_NOT_NEGATED = ("contains_at_least", "matches_all", "matches_at_least")


def _names() -> dict[str, Call]:
    """Return the check and switches of all functions, also in their singular forms."""
    found = {name: Call(check, {}) for name, check in _OTHERS.items()}
    found |= {alias: found[name] for alias, name in _ALIASES.items()}
    for name, check in _TEXTUAL.items():
        for negate in (False, True) if check not in _NOT_NEGATED else (False,):
            for ignore in (False, True):
                switches = dict(zip(SWITCHES, (negate, ignore), strict=True))
                call = Call(check, {key: True for key, on in switches.items() if on})
                start = f"{'not_' * negate}{'i' * ignore}"
                singular = name.replace("contains", "contain").replace("matches", "match")
                found[start + name] = found[start + singular] = call
    return found


_BY_NAME = _names()
_PREFERRED = {"imatches_all_of": "imatch_all_of", "imatches_at_least_n_of": "imatch_at_least_n_of"}
"""Documented names that are not registered → registered ones."""


_NAMES: dict[tuple[str, tuple[str, ...]], str] = {}
"""The function to write for each check with its switches."""

for _name, _call in _BY_NAME.items():
    _NAMES.setdefault((_call.check, tuple(_call.arguments)), _PREFERRED.get(_name, _name))
