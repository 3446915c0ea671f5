"""Serializers of rubrics and checks."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from evalhub.api.fields import JSONObject, PlainSerializer, RowSerializer
from issues.models import Criterion, FrozenCriterion
from issues.models.criterion import CONTENT_FIELDS
from issues.rubrics.scoring import MAX_CRITERIA, MAX_WEIGHT, MIN_WEIGHT

MAX_ALTERNATIVES = 1000
GENERAL = ("", "non_field_errors", "problems", "__all__")


class CriteriaSerializer(serializers.ListSerializer):
    """A whole rubric; errors name the criterion by its place, from 1."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > MAX_CRITERIA:
            raise serializers.ValidationError(
                f"A rubric has at most {MAX_CRITERIA} criteria, not {len(data)}."
            )
        try:
            found: list[Any] = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError(_by_place(error.detail)) from error
        keys = [criterion["key"] for criterion in found if criterion.get("key")]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise serializers.ValidationError(
                [f"Two criteria have the key {key!r}." for key in twice]
            )
        return found


def _by_place(errors: Any) -> Any:
    """Return sentences that begin with the criterion's place; other errors unchanged.

    Args:
        errors: Errors of each invalid criterion by its index, from 0, as Django REST has them.
    """
    if not isinstance(errors, Mapping) or not all(str(index).isdecimal() for index in errors):
        return errors
    return [
        f"Criterion {int(index) + 1}{'' if name in GENERAL else f', {name}'}: {text}"
        for index, by_field in sorted(errors.items(), key=lambda item: int(item[0]))
        for name, messages in (
            by_field if isinstance(by_field, Mapping) else {"": by_field}
        ).items()
        for text in _sentences(messages)
    ]


def _sentences(messages: Any) -> list[str]:
    if isinstance(messages, Mapping):
        return [text for inner in messages.values() for text in _sentences(inner)]
    return [str(text) for text in messages] if isinstance(messages, list) else [str(messages)]


class CriterionSerializer(RowSerializer):
    """A criterion of a rubric. Judges are asked about `text`, or `check` decides.

    Its key is assigned once: send it back to keep the criterion's history and results.
    """

    key = serializers.RegexField(r"^[\w.:-]{1,40}$", required=False)
    check = serializers.CharField(
        source="check_name", max_length=40, required=False, allow_blank=True
    )
    arguments = JSONObject(required=False)
    alternative = serializers.IntegerField(
        min_value=0,
        max_value=MAX_ALTERNATIVES,
        required=False,
        allow_null=True,
        help_text=(
            "Null: required. Criteria with the same number form one alternative; the best "
            "one counts."
        ),
    )
    weight = serializers.FloatField(min_value=MIN_WEIGHT, max_value=MAX_WEIGHT, default=1.0)

    class Meta:
        model = Criterion
        fields = tuple(CONTENT_FIELDS)
        list_serializer_class = CriteriaSerializer

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("check_name") and not attrs.get("text", "").strip():
            raise serializers.ValidationError("Enter the criterion, or choose a check.")
        if not attrs.get("check_name") and attrs.get("arguments"):
            raise serializers.ValidationError({"arguments": ["Only a check takes arguments."]})
        return super().validate(attrs)


class FrozenCriterionSerializer(RowSerializer):
    """A criterion as frozen; key "" is the test as a whole."""

    check = serializers.CharField(source="check_name", read_only=True)
    arguments = JSONObject(read_only=True)

    class Meta:
        model = FrozenCriterion
        fields = ("id", *CONTENT_FIELDS, "order")


class CheckSerializer(PlainSerializer):
    """A check decides a criterion without a judge. `arguments` is a JSON Schema."""

    name = serializers.CharField()
    title = serializers.CharField()
    family = serializers.CharField()
    description = serializers.CharField()
    can_run = serializers.BooleanField()
    reason = serializers.CharField(help_text="Reason why it cannot run here; empty if it can.")
    arguments = JSONObject()
