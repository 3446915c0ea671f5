"""Figures that take long to compute, kept for all processes under a digest of their inputs."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import caches

from evalhub.values.digest import digest

KEPT_S = 30 * 24 * 3600

T = TypeVar("T")


def computed(name: str, inputs: Any, function: Callable[[], T]) -> T:
    """Return what the function gives for these inputs, computed once and kept.

    Args:
        name: Of the function and its version: change it where the function changes.
        inputs: JSON, all that the outcome depends on, the seed too.
    """
    found = kept(name, inputs)
    if found is None:
        found = (function(),)
        caches["computed"].set(_key(name, inputs), found, KEPT_S)
    value: T = found[0]
    return value


def kept(name: str, inputs: Any) -> tuple[Any] | None:
    """Return the kept value in a tuple; None where none is kept, or an earlier version kept it."""
    found: tuple[Any] | None = caches["computed"].get(_key(name, inputs))
    return found


def _key(name: str, inputs: Any) -> str:
    return f"{name}-{digest(inputs)}"
