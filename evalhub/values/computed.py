"""Figures that take long to compute, cached for all processes under a digest of their inputs."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import caches

from evalhub.limits import COMPUTED_CACHE_S
from evalhub.values.digest import digest
from evalhub.values.typed_json import from_json, to_json

T = TypeVar("T")


def computed(name: str, inputs: Any, kind: type[T], function: Callable[[], T]) -> T:
    """Return what the function gives for these inputs, computed once and cached.

    Args:
        name: Of the function and its version: change it where the function changes.
        inputs: JSON, all that the outcome depends on, the seed too.
        kind: The type of the outcome, as pydantic reads it.
    """
    value = cached(name, inputs, kind)
    if value is None:
        value = function()
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
