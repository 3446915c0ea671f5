"""Figures that take long to compute, cached for all processes under a digest of their inputs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.core.cache import caches

from evalhub.limits import COMPUTED_CACHE_S
from evalhub.values.digest import digest
from evalhub.values.typed_json import from_json, to_json

T = TypeVar("T")

DIGITS = 9
"""Digits to which cached figures are compared: databases add up in any order."""


@dataclass
class Recomputed:
    """Figures that were cached and computed again: how many, and the names of those that differ.

    A figure that differs is replaced if `replaces`.
    """

    replaces: bool
    keys: set[str] = field(default_factory=set)
    different: list[str] = field(default_factory=list)

    def compare(self, key: str, name: str, kind: Any, cached: Any, again: Any) -> None:
        is_new = key not in self.keys
        self.keys.add(key)
        if is_new and _rounded(to_json(kind, cached)) != _rounded(to_json(kind, again)):
            self.different.append(name)


_recomputed: ContextVar[Recomputed | None] = ContextVar("recomputed", default=None)


@contextmanager
def recomputing(*, replaces: bool) -> Iterator[Recomputed]:
    """Compute every figure that is asked for within again, and compare it with the cached one."""
    found = Recomputed(replaces)
    token = _recomputed.set(found)
    try:
        yield found
    finally:
        _recomputed.reset(token)


def _rounded(content: Any) -> Any:
    return json.loads(json.dumps(content), parse_float=lambda one: f"{float(one):.{DIGITS}g}")


def computed(name: str, inputs: Any, kind: type[T], function: Callable[[], T]) -> T:
    """Return what the function gives for these inputs, computed once and cached.

    Args:
        name: Of the function and its version: change it where the function changes.
        inputs: JSON, all that the outcome depends on, the seed too.
        kind: The type of the outcome, as pydantic reads it.
    """
    value, recomputed = cached(name, inputs, kind), _recomputed.get()
    if value is None or recomputed:
        again = function()
        if value is not None and recomputed:
            recomputed.compare(_key(name, inputs), name, kind, value, again)
            if not recomputed.replaces:
                return value
        value = again
        caches["computed"].set(_key(name, inputs), to_json(kind, value), COMPUTED_CACHE_S)
    return value


def cached(name: str, inputs: Any, kind: type[T]) -> T | None:
    """Return the cached value; None where there is none, or only one of an earlier version."""
    content = caches["computed"].get(_key(name, inputs))
    try:
        return None if content is None else from_json(kind, content)
    except ValueError:
        return None


def _key(name: str, inputs: Any) -> str:
    return f"{name}-{digest(inputs)}"
