import json
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from rest_framework import serializers

from evalhub.values.strict_json import MAX_JSON, MAX_TEXT


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
    """A serializer that refuses fields that it does not have, so that no typo is lost.

    Read-only fields are known, and ignored: what was read can be sent back.
    """

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                raise serializers.ValidationError(
                    {name: [f"Unknown field {name!r}. Available: {known}."] for name in unknown}
                )
        return super().to_internal_value(data)


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
