"""Tells whether a row that is sent is the one that is there, as an export writes it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from issues.models import Criterion

BLANK_CRITERION = Criterion().as_content()


def is_unchanged(row: Any, sent: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Return True if each value that can be written is the row's own, without validating any.

    False says nothing: a value in another form may still be the same once it is validated.

    Args:
        row: An issue or test with its tags, sources and criteria read.
        sent: By name, with texts for other values where they come from cells.
        fields: Those of the serializer, by name.
    """
    return all(
        name in fields and (fields[name].read_only or _has(row, name, fields[name], value))
        for name, value in sent.items()
    )


def _has(row: Any, name: str, field: Any, value: Any) -> bool:
    if name == "tags":
        return isinstance(value, list) and _same_names([tag.name for tag in row.tags.all()], value)
    if name == "sources":
        there = [{"kind": one.kind, "value": one.value} for one in row.sources.all()]
        return bool(there == value)
    if name == "criteria":
        return isinstance(value, list) and _same_criteria(row.criteria.all(), value)
    if isinstance(field, serializers.PrimaryKeyRelatedField):
        return _same_cell(getattr(row, f"{name}_id"), value)
    if isinstance(field, serializers.SlugRelatedField):
        related = getattr(row, name)
        return bool(value == (related and getattr(related, field.slug_field)))
    return _same_cell(getattr(row, name), value)


def _same_names(there: Sequence[str], sent: Sequence[Any]) -> bool:
    return all(isinstance(name, str) for name in sent) and set(there) == set(sent)


def _same_criteria(there: Sequence[Criterion], sent: Sequence[Any]) -> bool:
    return len(there) == len(sent) and all(
        isinstance(one, Mapping) and row.as_content() == {**BLANK_CRITERION, **one}
        for row, one in zip(there, sent, strict=True)
    )


def _same_cell(there: Any, sent: Any) -> bool:
    """Compare a value with itself or with the text that a cell has for it."""
    if isinstance(sent, str) and not isinstance(there, str):
        return there is not None and str(there).lower() == sent.lower()
    return bool(there == sent)
