"""Columns of JSON in which many rows have the same: each text is parsed once."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast

M = TypeVar("M", bound=Model)


def as_text(column: str) -> Cast:
    """Return a column of JSON as `parser` takes it."""
    return Cast(column, TextField())


def parser() -> Callable[[str | None], Any]:
    """Return a function that parses each text once; whoever gets its values leaves them as is."""
    return cache(lambda text: None if text is None else json.loads(text))


def with_shared(rows: QuerySet[M], *columns: str) -> list[M]:
    """Read these rows; equal values of these columns of JSON are one object."""
    texts = {column: f"{column}_text" for column in columns}
    parse = parser()
    found = list(
        rows.defer(*columns).annotate(**{text: as_text(name) for name, text in texts.items()})
    )
    for row in found:
        for column, text in texts.items():
            setattr(row, column, parse(row.__dict__.pop(text)))
    return found
