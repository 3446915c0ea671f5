import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput

from evalhub.limits import MAX_JSON
from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import MAX_DEPTH, parse


class BoundedJSONField(forms.JSONField):
    """The JSON field of all forms, with the limits of the API."""

    def to_python(self, value: Any) -> Any:
        if self.disabled or not isinstance(value, str) or value in self.empty_values:
            return super().to_python(value)
        try:
            parsed = parse(value)
        except RecursionError as error:
            problem = f"This JSON is nested over {MAX_DEPTH} levels."
            raise ValidationError(problem) from error
        except json.JSONDecodeError:
            return super().to_python(value)
        except ValueError as error:
            raise ValidationError(f"This JSON cannot be stored: {error}.") from error
        length = len(json.dumps(parsed, separators=(",", ":"), ensure_ascii=False))
        if length > MAX_JSON:
            raise ValidationError(f"This JSON has {length} characters; the limit is {MAX_JSON}.")
        if places := unstorable(parsed):
            raise ValidationError(f"{places[0] or 'The text'} {REASON}")
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except RecursionError:
            return InvalidJSONInput(data)


class BoundedJSON:
    """Mixin of all admins and inlines, for their JSON columns."""

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if isinstance(db_field, models.JSONField):
            kwargs.setdefault("form_class", BoundedJSONField)
        return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
