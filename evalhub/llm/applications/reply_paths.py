"""JSONPaths (RFC 9535) into replies of applications. Pure.

Without patterns, and with `$` and `..` once each: the time that a path takes stays in proportion to
the reply, whatever that holds.
"""

from functools import lru_cache
from typing import Any

LONGEST = 300


class PathError(ValueError):
    """A path that cannot be followed in a reply."""


def path_problem(path: str) -> str:
    """Return why a path cannot be used; "" if it can."""
    if len(path) > LONGEST:
        return f"The path has {len(path)} characters; the maximum is {LONGEST}."
    if path.count("..") > 1 or path.count("$") > 1:
        return f"The path {path!r} may have $ and .. once each."
    try:
        _compiled(path)
    except Exception as error:  # of several kinds, some for numbers without end
        return f"{path!r} is not a JSONPath: {str(error).splitlines()[0]}."
    return ""


def values_at(path: str, document: Any) -> list[Any]:
    """Return the values of a path; [] for one that finds nothing.

    Raises:
        PathError: The reply is nested too deeply.
    """
    if not isinstance(document, dict | list):
        return []
    from jsonpath import JSONPathError

    try:
        return list(_compiled(path).findall(document))
    except (JSONPathError, RecursionError) as error:
        raise PathError(f"the path {path} cannot be followed: {error}") from error


@lru_cache(maxsize=1000)
def _compiled(path: str) -> Any:
    from jsonpath import JSONPathEnvironment

    environment = JSONPathEnvironment(strict=True)
    for name in ("match", "search"):
        del environment.function_extensions[name]
    return environment.compile(path)
