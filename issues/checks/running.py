"""Running a check, and reading its arguments."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from issues.checks.check import Arguments, Check, CheckError, Outcome
from issues.checks.material import Material
from issues.checks.registry import CHECKS
from issues.checks.wording import quoted, shown


def run(name: str, arguments: Mapping[str, Any], material: Material) -> Outcome:
    """What comes of the check on this answer: a value or an error, whatever is passed."""
    try:
        return _measured(known(name), arguments, material)
    except CheckError as error:
        return Outcome(error=str(error))
    except RecursionError:
        return Outcome(error="The text or the arguments are nested too deeply.")
    except Exception as error:
        return Outcome(error=f"The check broke: {type(error).__name__}: {shown(str(error))}")


def _measured(check: Check, arguments: Mapping[str, Any], material: Material) -> Outcome:
    if check.reason:
        raise CheckError(check.reason)
    try:
        typed = check.takes.model_validate(arguments)
    except ValidationError as error:
        raise CheckError(" ".join(_problems(check, error))) from error
    value, explanation = check.measure(typed, material)
    if typed.negate:
        return Outcome(1 - value, f"{explanation} The check is negated.")
    return Outcome(value, explanation)


def problems_of(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """What is wrong with the name or the arguments, in words; empty where nothing is.

    A check that cannot run here has no problem by that: it can be kept and shown.
    """
    try:
        check = known(name)
        check.takes.model_validate(arguments)
    except CheckError as error:
        return [str(error)]
    except ValidationError as error:
        return list(_problems(check, error))
    except RecursionError:
        return ["The arguments are nested too deeply."]
    return []


def known(name: str) -> Check:
    """The check of this name.

    Raises:
        CheckError: There is none.
    """
    check = CHECKS.get(name) if isinstance(name, str) else None
    if check is None:
        raise CheckError(f"There is no check {quoted(str(name))}.")
    return check


def _problems(check: Check, error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False, include_context=False):
        where = ".".join(map(str, detail["loc"]))
        yield _in_words(check.takes, where, detail["type"], detail["msg"], detail["input"])


def _in_words(takes: type[Arguments], where: str, kind: str, message: str, value: Any) -> str:
    if kind == "missing":
        return f"“{where}” is missing."
    if kind == "extra_forbidden":
        names = [field.alias or name for name, field in takes.model_fields.items()]
        return f"“{where}” is not known here: only {', '.join(names)}."
    if not where:
        return f"{message.removeprefix('Value error, ')} Given: {shown(value)}."
    if kind == "value_error":
        return f"“{where}” is {shown(value)}: {message.removeprefix('Value error, ')}"
    return f"“{where}” is {shown(value)}: {message[:1].lower()}{message[1:]}."
