"""Models that a blueprint names, with collections expanded. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from runs.importers.weval.blueprint.records import Json

Collections = Mapping[str, list[str | Json]]
"""Models by collection."""

MAX_NESTED = 5


class Named(NamedTuple):
    """Distinct models by name, and unknown collections."""

    models: list[str]
    unknown: list[str]


def is_collection(name: str) -> bool:
    return ":" not in name and name.upper() == name and any(map(str.isalpha, name))


def named(models: Iterable[str | Json], collections: Collections) -> Named:
    """Return all models that are named; an object counts by its id."""
    found: list[str] = []
    unknown: list[str] = []
    for model in _written_out(models, collections, 0):
        name = model if isinstance(model, str) else str(model.get("id", ""))
        (unknown if is_collection(name) else found).append(name)
    return Named(list(dict.fromkeys(found)), list(dict.fromkeys(unknown)))


def _written_out(
    models: Iterable[str | Json], collections: Collections, depth: int
) -> Iterator[str | Json]:
    for model in models:
        inner = collections.get(model) if isinstance(model, str) else None
        if inner is None or depth >= MAX_NESTED:
            yield model
        else:
            yield from _written_out(inner, collections, depth + 1)


def spellings(name: str) -> list[str]:
    """Return possible names here, most exact first: `a:b/c` is `a/b/c`, `b/c` or `c`."""
    provider, _, rest = name.partition(":")
    bare = rest.rpartition("/")[2]
    return [text.casefold() for text in (name, f"{provider}/{rest}", rest, bare) if text]


def as_written(litellm_model: str) -> str:
    """Return the name of our model in blueprints."""
    return litellm_model.replace("/", ":", 1)
