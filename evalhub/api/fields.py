import json
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils.dateparse import parse_datetime
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.renderers import JSONRenderer

from evalhub.limits import MAX_JSON, MAX_TEXT
from evalhub.values.strict_json import excerpt

UNKNOWN, READ_ONLY = "unknown_field", "read_only"
EMPTY: tuple[Any, ...] = (None, "", [], {})


class LongText(serializers.CharField):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", MAX_TEXT)
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)


class BoundedJSON(serializers.JSONField):
    """JSON of limited length. `of` is its type, for the schema; who reads it checks it."""

    of: Any = None

    def __init__(self, of: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.of = self.of if of is None else of

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        length = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
        if length > MAX_JSON:
            raise serializers.ValidationError(
                f"This JSON has {length} characters; the limit is {MAX_JSON}."
            )
        return value


class JSONObject(BoundedJSON):
    of = dict[str, Any]

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            raise serializers.ValidationError(f"Send an object such as {{}}, not {value!r}.")
        return value


class Name(serializers.StringRelatedField):
    """Name of a related row; null where there may be none."""

    def bind(self, field_name: str, parent: Any) -> None:
        super().bind(field_name, parent)
        model = getattr(getattr(parent, "Meta", None), "model", None)
        with suppress(FieldDoesNotExist, AttributeError):
            self.allow_null = model._meta.get_field(self.source).null  # type: ignore[union-attr]


class Readable(serializers.PrimaryKeyRelatedField):
    """A row by id, of those whose text the user may read."""

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        return rows.readable_by(self.context["request"].user)


class PlainSerializer(serializers.Serializer):
    """A serializer that refuses what it would not save, so that nothing is lost unnoticed.

    That is a field that it does not have, and a read-only one that differs from the row's, or from
    that of a new row: what was read can be sent back. With `drops_read_only` in the context these
    are left alone, for rows that come from another site; with `copies_rows`, in new rows, which may
    be sent as another one was read.
    """

    copies_rows = False

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            problems = {
                str(name): [
                    ErrorDetail(f"Unknown field {str(name)!r}. Available: {known}.", UNKNOWN)
                ]
                for name in data
                if name not in self.fields
            }
            is_copy = self.copies_rows and self.instance is None
            if self.root is self and not is_copy and not self.context.get("drops_read_only"):
                problems |= self._read_only_problems(data)
            if problems:
                raise serializers.ValidationError(problems)
        return super().to_internal_value(data)

    def _read_only_problems(self, data: Mapping[str, Any]) -> dict[str, list[ErrorDetail]]:
        sent = [name for name in data if name in self.fields and self.fields[name].read_only]
        row = self.instance if sent else None
        if isinstance(row, models.Model):
            there = json.loads(JSONRenderer().render(self.to_representation(row)))
            wrong = [name for name in sent if not _is_same(data[name], there[name])]
        else:
            there = {name: self._initial(name) for name in sent}
            wrong = [name for name in sent if data[name] not in (*EMPTY, there[name])]
        return {
            name: [
                ErrorDetail(
                    f"This is read-only, {excerpt(there[name])} here: leave it out.", READ_ONLY
                )
            ]
            for name in wrong
        }

    def _initial(self, name: str) -> Any:
        """Return the value of a read-only field in a new row, as far as it can be said."""
        field, request = self.fields[name], self.context.get("request")
        if isinstance(field, Name):
            return str(getattr(request, "user", ""))
        with suppress(FieldDoesNotExist, AttributeError):
            default = self.Meta.model._meta.get_field(field.source).get_default()  # type: ignore[attr-defined]
            return None if callable(default) else default
        return None


def _is_same(sent: Any, there: Any) -> bool:
    if isinstance(sent, str) and isinstance(there, str):
        with suppress(ValueError):
            moment = parse_datetime(sent)
            return sent == there or (moment is not None and moment == parse_datetime(there))
    return bool(sent == there)


class RowSerializer(PlainSerializer, serializers.ModelSerializer):
    """Serializer of a model with bounded fields and the model's own validation."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.TextField: LongText,
        models.JSONField: BoundedJSON,
    }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        model: type[models.Model] = self.Meta.model
        row = copy(self.instance) if self.instance is not None else model()
        columns = {field.name for field in row._meta.concrete_fields}
        for name in attrs.keys() & columns:
            setattr(row, name, attrs[name])
        row.clean()
        row.validate_constraints()
        return attrs
