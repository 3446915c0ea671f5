"""Run checks, and validate their arguments."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from evalhub.values.storable import UNSTORABLE
from issues.checks.check import CannotTell, Check, CheckError, Finding, Outcome
from issues.checks.quoting import quoted, shown
from issues.checks.registry import CHECKS
from issues.checks.subject import Material


def run(name: str, arguments: Mapping[str, Any], material: Material) -> Outcome:
    """Run a check: always returns a value or an error."""
    try:
        value, explanation = _measured(_known(name), arguments, material)
        return Outcome(value, _storable(explanation))
    except CheckError as error:
        return Outcome(error=_storable(str(error)), is_final=isinstance(error, CannotTell))
    except RecursionError:
        return Outcome(error="The text or the arguments are nested too deeply.")
    except Exception as error:
        message = f"The check failed with an error: {type(error).__name__}: {shown(str(error))}"
        return Outcome(error=_storable(message))


def _storable(text: str) -> str:
    """Remove characters that no database stores: JSON in an answer can spell them."""
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _measured(check: Check, arguments: Mapping[str, Any], material: Material) -> Finding:
    if check.reason:
        raise CheckError(check.reason)
    try:
        parsed_value = check.takes.model_validate(arguments)
    except ValidationError as error:
        problems = " ".join(problem.message for problem in _located(check, error))
        raise CheckError(problems) from error
    found: Finding = check.measure(parsed_value, material)
    if not parsed_value.negate:
        return found
    return Finding(1 - found.value, f"{found.explanation} Inverted.")


class Problem(NamedTuple):
    """A problem, and its argument; "" for none or several."""

    argument: str
    message: str


def problems_of(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """List the problems of a check's name and arguments.

    A check that cannot run here is no problem: it can be stored and shown.
    """
    return [problem.message for problem in located_problems_of(name, arguments)]


def located_problems_of(name: str, arguments: Mapping[str, Any]) -> list[Problem]:
    """Return the problems with their arguments."""
    try:
        check = _known(name)
        check.takes.model_validate(arguments)
    except CheckError as error:
        return [Problem("", str(error))]
    except ValidationError as error:
        return list(_located(check, error))
    except RecursionError:
        return [Problem("", "The arguments are nested too deeply.")]
    return []


def _known(name: str) -> Check:
    check = CHECKS.get(name) if isinstance(name, str) else None
    if check is None:
        raise CheckError(f"Unknown check: {quoted(str(name))}.")
    return check


def _located(check: Check, error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors(include_url=False, include_context=False):
        parts = [str(part) for part in detail["loc"]]
        where, kind = ".".join(parts), detail["type"]
        message, value = detail["msg"].removeprefix("Value error, "), shown(detail["input"])
        if kind == "missing":
            text = f"“{where}” is missing."
        elif kind == "extra_forbidden":
            names = [field.alias or name for name, field in check.takes.model_fields.items()]
            text = f"“{where}” is unknown. Use {', '.join(names)}."
        elif not where:
            text = f"{message} Given: {value}."
        elif kind == "value_error":
            text = f"“{where}” is {value}: {message}"
        else:
            text = f"“{where}” is {value}: {message[:1].lower()}{message[1:]}."
        yield Problem(parts[0] if parts else "", text)
