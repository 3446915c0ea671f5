"""Problems of options that pydantic validates, in sentences. Pure."""

from typing import Any

from pydantic import ValidationError


def option_problems(error: ValidationError) -> list[str]:
    """Return a sentence for each problem; it names the field and the given value."""
    return [_sentence(problem) for problem in error.errors()]


def _sentence(problem: Any) -> str:
    field = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if not field:
        return str(message)
    given = "" if problem["type"] == "missing" else f" (given: {problem['input']!r})"
    return f"{field}: {message}{given}."
