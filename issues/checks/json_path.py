"""JSONPath (RFC 9535) with a time limit for any path and document."""

from collections.abc import ItemsView, Iterator
from typing import Any

from issues.checks.check import CheckError
from issues.checks.javascript_regex import search
from issues.checks.time_limit import Deadline

LONGEST = 1_000


def readable(path: str) -> str:
    """Validate a path.

    Raises:
        ValueError: It is not a JSONPath; the message says why.
    """
    from jsonpath import JSONPathError

    if len(path) > LONGEST:
        raise ValueError(f"the path has {len(path):,} characters; the maximum is {LONGEST:,}.")
    try:
        _environment(Deadline()).compile(path)
    except (JSONPathError, ArithmeticError) as error:  # the latter of numbers without end
        raise ValueError(f"not a JSONPath: {error}.") from error
    return path


def values_at(path: str, document: Any, deadline: Deadline) -> list[Any]:
    """Return the values of a path in an object or a list.

    Raises:
        CheckError: It took too long, or the document is nested too deeply.
    """
    from jsonpath.exceptions import JSONPathRecursionError

    compiled = _environment(deadline).compile(path)
    try:
        return list(compiled.findall(_watched(document, deadline)))
    except JSONPathRecursionError as error:
        raise CheckError("The JSON is nested too deeply.") from error


class _Object(dict[str, Any]):
    """Mapping or list that checks the time limit on every access."""

    deadline: Deadline

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        self.deadline.left()
        return super().items()

    def __getitem__(self, name: str) -> Any:
        self.deadline.left()
        return super().__getitem__(name)


class _List(list[Any]):
    deadline: Deadline

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.deadline.left()
            yield item


def _watched(value: Any, deadline: Deadline) -> Any:
    watched: _Object | _List
    if isinstance(value, dict):
        watched = _Object({name: _watched(item, deadline) for name, item in value.items()})
    elif isinstance(value, list):
        watched = _List([_watched(item, deadline) for item in value])
    else:
        return value
    watched.deadline = deadline
    return watched


def _environment(deadline: Deadline) -> Any:
    """Environment for RFC 9535, with pattern searches under the time limit."""
    from jsonpath import JSONPathEnvironment
    from jsonpath.function_extensions import ExpressionType, FilterFunction

    class Matching(FilterFunction):
        arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]
        return_type = ExpressionType.LOGICAL

        def __init__(self, form: str) -> None:
            self.form = form

        def __call__(self, value: object, pattern: object) -> bool:
            if not isinstance(value, str) or not isinstance(pattern, str):
                return False
            try:
                return bool(search(self.form.format(pattern), value, deadline))
            except ValueError:
                return False

    environment = JSONPathEnvironment(strict=True)
    environment.function_extensions["match"] = Matching(r"^(?:{})$")
    environment.function_extensions["search"] = Matching("{}")
    return environment
