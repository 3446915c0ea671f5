"""How columns are read and written: texts and JSON are bounded, with errors that say by what."""

import json
from copy import copy
from typing import Any

from django.db import models
from rest_framework import serializers

MOST_TEXT = 200_000
"""Characters of one text: ten times what a model with a long context answers at most."""
MOST_JSON = 500_000
"""Characters of one JSON value, as it is written without spaces."""


class LongText(serializers.CharField):
    """Text as it was sent, its space included."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", MOST_TEXT)
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)


class BoundedJSON(serializers.JSONField):
    """Any JSON value of a bounded size."""

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        length = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
        if length > MOST_JSON:
            raise serializers.ValidationError(
                f"This JSON has {length} characters, and {MOST_JSON} is the most."
            )
        return value


class JSONObject(BoundedJSON):
    """A JSON object."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            raise serializers.ValidationError(f"Send an object such as {{}}, not {value!r}.")
        return value


class Name(serializers.StringRelatedField):
    """What a related row is called."""


class RowSerializer(serializers.ModelSerializer):
    """A model's columns, texts and JSON bounded; its own rules and constraints hold here too."""

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
